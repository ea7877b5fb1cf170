"""The time zone is chosen on a page: by name, and back to the browser's."""

import pytest
from bs4 import BeautifulSoup
from django.contrib.auth.models import User
from django.test import Client

pytestmark = pytest.mark.django_db

ADDRESS = "/accounts/time-zone/"


@pytest.fixture
def reader(client: Client) -> Client:
    client.force_login(User.objects.create_user("reader"))
    return client


def test_chosen_zone_is_kept_and_leads_back(reader: Client) -> None:
    response = reader.post(ADDRESS, {"zone": "Asia/Tokyo", "next": "/timeline/?anchor=now"})
    assert (response.status_code, response["Location"]) == (302, "/timeline/?anchor=now")
    page = BeautifulSoup(reader.get(ADDRESS).content.decode(), "html.parser")
    assert {one.get_text() for one in page.select("[data-zone-label]")} == {"Asia/Tokyo"}


def test_empty_zone_leaves_it_to_the_browser_again(reader: Client) -> None:
    reader.cookies["memweb_tz"] = "Asia/Tokyo"
    response = reader.post(ADDRESS, {"next": "/"})
    assert response.cookies["memweb_tz"].value == ""
    assert response.cookies["memweb_tz"]["max-age"] == 0


@pytest.mark.parametrize("name", ["Mars/Olympus", "../../etc/passwd", "Europe/", "x" * 100, "<b>", "\x00"])
def test_zone_that_is_none_is_named(reader: Client, name: str) -> None:
    response = reader.post(ADDRESS, {"zone": name})
    page = BeautifulSoup(response.content.decode(), "html.parser")
    alert = page.select_one("[role=alert]")
    assert response.status_code == 400
    assert alert is not None
    assert "is not a time zone; accepted are names such as Europe/Berlin" in alert.get_text()
    assert "memweb_tz" not in response.cookies


@pytest.mark.parametrize("address", ["https://evil.example/", "//evil.example", "javascript:alert(1)", ""])
def test_another_host_is_never_next(reader: Client, address: str) -> None:
    response = reader.post(ADDRESS, {"zone": "UTC", "next": address})
    assert response["Location"] == "/"


def test_other_methods_are_refused(reader: Client) -> None:
    assert reader.put(ADDRESS).status_code == 405


def test_address_of_the_page_is_in_the_header(reader: Client) -> None:
    page = BeautifulSoup(reader.get("/timeline/?anchor=now&before=3").content, "html.parser")
    link = page.select_one("a.time-zone")
    assert link is not None
    assert link["href"] == "/accounts/time-zone/?next=%2Ftimeline%2F%3Fanchor%3Dnow%26before%3D3"
