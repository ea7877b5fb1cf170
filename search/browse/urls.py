from django.urls import path

from search.browse import lists, views

urlpatterns = [
    path("sessions/", lists.sessions, name="sessions"),
    path("sessions/<int:id>/", views.session, name="session"),
]
