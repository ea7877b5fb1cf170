from django.urls import path

from search.browse import lists, views

urlpatterns = [
    path("sessions/", lists.sessions, name="sessions"),
    path("sessions/<int:id>/", views.session, name="session"),
    path("projects/", lists.projects, name="projects"),
    path("files/", lists.files, name="files"),
    path("concepts/", lists.concepts, name="concepts"),
]
