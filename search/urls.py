from django.urls import include, path

from search import views
from search.completions.views import completions
from search.facets.views import facet, facets

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
]
