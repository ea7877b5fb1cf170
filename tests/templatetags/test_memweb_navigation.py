"""The main navigation."""

import pytest
from django.template import Context, Template
from django.test import RequestFactory

LINK = Template('{% load memweb_navigation %}{% nav_link "search" "Search" %}')
ADMIN = Template('{% load memweb_navigation %}{% nav_link "admin:index" "Admin" %}')


@pytest.mark.parametrize(
    ("path", "search", "admin"),
    [
        ("/", '<a href="/" aria-current="page">Search</a>', '<a href="/admin/">Admin</a>'),
        ("/admin/", '<a href="/">Search</a>', '<a href="/admin/" aria-current="page">Admin</a>'),
        ("/admin/memories/tag/", '<a href="/">Search</a>', '<a href="/admin/" aria-current="page">Admin</a>'),
        ("/m/o1/", '<a href="/">Search</a>', '<a href="/admin/">Admin</a>'),
    ],
)
def test_nav_link_is_current_on_its_page_and_below(rf: RequestFactory, path: str, search: str, admin: str) -> None:
    context = Context({"request": rf.get(path)})
    assert LINK.render(context) == search
    assert ADMIN.render(context) == admin
