from django.urls import path

from search.actions import changes, conflicts, curation_views, views

urlpatterns = [
    path("m/<str:ref>/tags/", views.tag, name="tag"),
    path("m/<str:ref>/pin/", views.pin, name="pin"),
    path("m/<str:ref>/edit/", curation_views.edit, name="edit"),
    path("m/<str:ref>/curate/", curation_views.curate, name="curate"),
    path("new/", curation_views.new, name="new-memory"),
    path("conflicts/", conflicts.conflicts, name="conflicts"),
    path("conflicts/<int:id>/", conflicts.settle_conflict, name="settle-conflict"),
    path("changes/", changes.changes, name="changes"),
    path("changes/<int:id>/undo/", curation_views.undo_change, name="undo"),
    path("selection/", views.selection, name="selection"),
]
