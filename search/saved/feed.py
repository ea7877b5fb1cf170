"""The Atom feed of a saved search: its newest memories, for a feed reader that knows nothing but the address."""

import re
from datetime import datetime
from hashlib import sha256
from typing import Any
from uuid import uuid5

from django.contrib.auth.decorators import login_not_required
from django.contrib.syndication.views import Feed
from django.http import Http404, HttpRequest, HttpResponse
from django.utils.cache import get_conditional_response
from django.utils.crypto import constant_time_compare
from django.utils.feedgenerator import Atom1Feed
from django.utils.html import escape
from django.utils.http import parse_http_date
from django.views.decorators.debug import sensitive_variables

from memweb.reading import read_only
from search.analysis import clean
from search.results import Hit
from search.saved.entries import newest_hits
from search.saved.models import SavedSearch
from search.saved.saving import request_of, zone_of
from search.texts import whole_characters

_NOT_IN_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


@login_not_required
@read_only
@sensitive_variables("token")
def feed(request: HttpRequest, id: int, token: str) -> HttpResponse:
    """The feed of a saved search for whoever knows its token; 304 when the reader has it already."""
    saved = SavedSearch.objects.filter(pk=id, user__is_active=True).first()
    if saved is None or not constant_time_compare(token.encode("utf-8", "replace"), saved.feed_token):
        raise Http404("No feed has this address; it may have been renewed or deleted.")
    answer: HttpResponse = SavedSearchFeed()(request, saved)
    answer["ETag"] = f'"{sha256(answer.content).hexdigest()[:32]}"'
    modified = parse_http_date(answer["Last-Modified"])
    return get_conditional_response(request, answer["ETag"], modified, answer) or answer


class _Atom(Atom1Feed):
    """Atom whose texts may be in any language; without entries it was last updated when the search was saved."""

    def root_attributes(self) -> dict[str, str]:
        return {"xmlns": self.ns}

    def latest_post_date(self) -> datetime:
        made_at: datetime = self.feed["made_at"]
        return super().latest_post_date() if self.items else made_at


class SavedSearchFeed(Feed):
    """Entries of one saved search. Their ids name the memory within the feed, whatever its address is called."""

    feed_type = _Atom
    author_name = "memweb"

    def get_object(self, request: HttpRequest, saved: SavedSearch) -> SavedSearch:
        return saved

    def title(self, saved: SavedSearch) -> str:
        return xml_text(saved.name)

    def subtitle(self, saved: SavedSearch) -> str:
        return xml_text(request_of(saved, zone_of(saved)).explanation)

    def link(self, saved: SavedSearch) -> str:
        return saved.get_absolute_url()

    def feed_guid(self, saved: SavedSearch) -> str:
        return saved.uuid.urn

    def feed_extra_kwargs(self, saved: SavedSearch) -> dict[str, Any]:
        return {"made_at": saved.created_at}

    def items(self, saved: SavedSearch) -> list[tuple[SavedSearch, Hit]]:
        return [(saved, hit) for hit in newest_hits(saved)]

    def item_title(self, item: tuple[SavedSearch, Hit]) -> str:
        return xml_text(item[1].title)

    def item_description(self, item: tuple[SavedSearch, Hit]) -> str:
        # Atom calls it HTML: what is text here must not become markup there.
        return escape(xml_text(item[1].snippet))

    def item_link(self, item: tuple[SavedSearch, Hit]) -> str:
        return str(item[1].memory.get_absolute_url())

    def item_guid(self, item: tuple[SavedSearch, Hit]) -> str:
        saved, hit = item
        return uuid5(saved.uuid, str(hit.ref)).urn

    def item_pubdate(self, item: tuple[SavedSearch, Hit]) -> datetime | None:
        return item[1].memory.created_at

    def item_updateddate(self, item: tuple[SavedSearch, Hit]) -> datetime:
        return item[1].memory.updated_at

    def item_categories(self, item: tuple[SavedSearch, Hit]) -> list[str]:
        hit = item[1]
        names = (str(hit.kind), getattr(hit.memory, "type", ""), hit.memory.project.name)
        return [text for name in names if (text := xml_text(name).strip())]


def xml_text(text: str) -> str:
    """Return a text without what XML cannot hold and without what turns the direction of others."""
    return _NOT_IN_XML.sub("", whole_characters(clean(text)))
