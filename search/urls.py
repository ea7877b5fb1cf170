from django.urls import include, path

from search import views
from search.completions.views import completions

urlpatterns = [
    path("", views.search, name="search"),
    path("m/<str:ref>/", views.memory, name="memory"),
    path("completions/", completions, name="completions"),
    path("", include("search.timeline.urls")),
    path("", include("search.browse.urls")),
]
