"""All addresses of memweb."""

from django.contrib import admin
from django.urls import include, path

from memweb.accounts.views import sign_in
from memweb.health import report_health

urlpatterns = [
    path("accounts/", include("memweb.accounts.urls")),
    path("healthz", report_health, name="healthz"),
    path("", include("search.urls")),
    path("admin/login/", sign_in),  # there is one way in, and it needs no password
    path("admin/", admin.site.urls),
]

handler500 = "memweb.failures.answer_failure"
