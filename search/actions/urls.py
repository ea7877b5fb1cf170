from django.urls import path

from search.actions import changes, curation_views, views

urlpatterns = [
    path("m/<str:ref>/tags/", views.tag, name="tag"),
    path("m/<str:ref>/pin/", views.pin, name="pin"),
    path("m/<str:ref>/edit/", curation_views.edit, name="edit"),
    path("m/<str:ref>/curate/", curation_views.curate, name="curate"),
    path("changes/", changes.changes, name="changes"),
    path("changes/<int:id>/undo/", curation_views.undo_change, name="undo"),
    path("selection/", views.selection, name="selection"),
]
