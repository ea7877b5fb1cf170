"""Addresses of signing in and out, and of the time zone."""

from django.urls import path

from memweb.accounts import views
from memweb.accounts.time_zones import time_zone

urlpatterns = [
    path("login/", views.sign_in, name="login"),
    path("link/<str:token>/", views.open_link, name="sign_in_link"),
    path("time-zone/", time_zone, name="time-zone"),
    path("logout/", views.sign_out, name="logout"),
]
