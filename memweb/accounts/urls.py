"""Addresses of signing in and out."""

from django.urls import path

from memweb.accounts import views

urlpatterns = [
    path("login/", views.sign_in, name="login"),
    path("link/<str:token>/", views.open_link, name="sign_in_link"),
    path("logout/", views.sign_out, name="logout"),
]
