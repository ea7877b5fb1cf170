from django.urls import path

from search.timeline import views

urlpatterns = [path("timeline/", views.timeline, name="timeline")]
