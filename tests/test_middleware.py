"""Middleware that no page has to think of."""

import pytest
from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory

from memweb.middleware import BodilessHeadMiddleware


@pytest.mark.parametrize(("method", "body"), [("HEAD", b""), ("GET", b"twelve bytes")])
def test_answer_to_head_has_no_body_but_its_length(method: str, body: bytes) -> None:
    def view(request: HttpRequest) -> HttpResponse:
        return HttpResponse(b"twelve bytes")

    response = BodilessHeadMiddleware(view)(RequestFactory().generic(method, "/"))
    assert response.content == body
    assert response.get("Content-Length", "12") == "12"


@pytest.mark.django_db
def test_head_of_the_search_page_is_as_long_as_the_page(client: Client) -> None:
    client.force_login(User.objects.create_user("reader"))
    response = client.head("/")
    assert (response.status_code, response.content) == (200, b"")
    assert int(response["Content-Length"]) > 1000
