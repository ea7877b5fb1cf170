from django.urls import path

from search.actions import views

urlpatterns = [
    path("m/<str:ref>/tags/", views.tag, name="tag"),
    path("m/<str:ref>/pin/", views.pin, name="pin"),
    path("selection/", views.selection, name="selection"),
]
