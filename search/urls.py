from django.urls import include, path

from search import views
from search.completions.views import completions
from search.facets.views import facet, facets
from search.saved import views as saved
from search.saved.feed import feed
from search.syntax import syntax

urlpatterns = [
    path("", views.search, name="search"),
    path("m/<str:ref>/", views.memory, name="memory"),
    path("m/<str:ref>/similar/", views.similar, name="similar"),
    path("search/facets/", facets, name="facets"),
    path("search/facets/<str:name>/", facet, name="facet"),
    path("completions/", completions, name="completions"),
    path("", include("search.actions.urls")),
    path("", include("search.timeline.urls")),
    path("", include("search.browse.urls")),
    path("syntax/", syntax, name="syntax"),
    path("saved/", saved.saved_searches, name="saved-searches"),
    path("saved/<int:id>/", saved.open_saved, name="saved-search"),
    path("saved/<int:id>/new/", saved.count_new, name="saved-new"),
    path("saved/<int:id>/rename/", saved.rename_saved, name="rename-saved"),
    path("saved/<int:id>/delete/", saved.delete_saved, name="delete-saved"),
    path("saved/<int:id>/renew-feed/", saved.renew_saved_feed, name="renew-saved-feed"),
    path("saved/<int:id>/feed/<str:token>/", feed, name="saved-feed"),
]
