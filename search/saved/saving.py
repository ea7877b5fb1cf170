"""The life of a saved search: kept under a name, opened, renamed, its feed's address renewed, deleted."""

import unicodedata
from datetime import tzinfo
from zoneinfo import ZoneInfo

from django.contrib.auth.models import User
from django.core.exceptions import SuspiciousOperation, ValidationError
from django.db import IntegrityError, transaction
from django.http import QueryDict
from django.utils import timezone

from memweb.middleware import zone_named
from search.analysis import clean
from search.links import Links
from search.request import SearchRequest, normalize_params
from search.saved.models import LONGEST_NAME, SavedSearch, new_token
from search.saved.news import last_ids

MOST_SAVED = 200
LONGEST_QUERY = 32_000


def save_search(user: User, name: str, query: str, zone: tzinfo, *, replace: bool = False) -> SavedSearch:
    """Keep a search, given as a query string, under a name; `replace` puts it in the place of one of that name.

    Raises ValidationError for a name that cannot be used (code `taken` when the user has it already), for a search
    that is too long, and for one too many.
    """
    name = normal_name(name)
    values = {"name": name, "query": normal_query(query, zone), "time_zone": zone_name(zone), "seen": last_ids()}
    with transaction.atomic():
        mine = SavedSearch.objects.filter(user=user)
        if replace and (saved := mine.filter(key=key_of(name)).first()):
            for field, value in values.items():
                setattr(saved, field, value)
            saved.save(update_fields=list(values))
            return saved
        if mine.count() >= MOST_SAVED:
            raise ValidationError(f"There are {MOST_SAVED} saved searches already; delete one first.", code="full")
        return _written(SavedSearch(user=user, key=key_of(name), **values))


def rename_search(saved: SavedSearch, name: str) -> None:
    """Give a saved search another name. Raises ValidationError as save_search does."""
    saved.name = normal_name(name)
    saved.key = key_of(saved.name)
    _written(saved, "name", "key")


def note_opening(saved: SavedSearch) -> None:
    """Remember that its owner has seen all that there is now."""
    saved.opened_at, saved.seen = timezone.now(), last_ids()
    saved.save(update_fields=["opened_at", "seen"])


def renew_feed(saved: SavedSearch) -> None:
    """Give the feed another address; the one before leads nowhere from now on."""
    saved.feed_token = new_token()
    saved.save(update_fields=["feed_token"])


def request_of(saved: SavedSearch, zone: tzinfo) -> SearchRequest:
    """Return what a saved search asks for, with its days in a zone."""
    return normalize_params(QueryDict(saved.query), zone).request


def normal_query(query: str, zone: tzinfo) -> str:
    """Return a query string in its one normal form, without what is unknown and without the place in the pages."""
    try:
        request = normalize_params(QueryDict(query), zone).request
    except (ValueError, SuspiciousOperation) as error:
        raise ValidationError("This search cannot be read.", code="query") from error
    normal = query_string(request)
    if len(normal) > LONGEST_QUERY:
        raise ValidationError("This search is too long to be saved.", code="query")
    return normal


def query_string(request: SearchRequest) -> str:
    """Return the query string of the search page for a request."""
    return Links(request).canonical().partition("?")[2]


def normal_name(name: str) -> str:
    """Return a name without control characters and needless blanks; raises ValidationError for none and a long one."""
    name = " ".join(unicodedata.normalize("NFC", clean(name)).split())
    if not name:
        raise ValidationError("A saved search needs a name.", code="name")
    if len(name) > LONGEST_NAME:
        raise ValidationError(f"A name has at most {LONGEST_NAME} characters; this one has {len(name)}.", code="name")
    return name


def key_of(name: str) -> str:
    """Return what names that differ in capitals or in the width of letters have in common."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", name).casefold())


def zone_name(zone: tzinfo) -> str:
    return zone.key if isinstance(zone, ZoneInfo) else "UTC"


def zone_of(saved: SavedSearch) -> tzinfo:
    """Return the zone in which a search was saved, for answers to somebody whose own is not known."""
    return zone_named(saved.time_zone) or timezone.get_default_timezone()


def _written(saved: SavedSearch, *fields: str) -> SavedSearch:
    try:
        with transaction.atomic():
            saved.save(update_fields=fields or None)
    except IntegrityError as error:
        raise ValidationError(f"There is a saved search named “{saved.name}” already.", code="taken") from error
    return saved
