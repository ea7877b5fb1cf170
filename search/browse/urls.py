from django.urls import path

from search.browse import views

urlpatterns = [path("sessions/<int:id>/", views.session, name="session")]
