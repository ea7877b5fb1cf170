"""Page objects of saved searches: the list, the control beside the results, what an empty search box offers."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, tzinfo

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db.models.functions import Coalesce
from django.urls import reverse

from search.analysis import clean
from search.request import SearchRequest
from search.saved.models import LONGEST_NAME, SavedSearch
from search.saved.news import last_ids, may_have_news
from search.saved.saving import query_string, request_of

RECENTLY_OPENED = 8


@dataclass(frozen=True, slots=True)
class SavedRow:
    id: int
    name: str
    url: str
    explanation: str
    feed_address: str
    since: datetime
    was_opened: bool
    may_have_news: bool
    entered: str = ""
    errors: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class SavedPage:
    """What `/saved/` lists; `refused` is a search that could not be saved as it was sent."""

    rows: list[SavedRow]
    refused: "RefusedSave | None" = None


@dataclass(frozen=True, slots=True)
class RefusedSave:
    """A search that was not saved: what was entered, why not, and whether it may replace the one of that name."""

    name: str
    query: str
    explanation: str
    errors: list[str]
    may_replace: bool


@dataclass(frozen=True, slots=True)
class SaveControl:
    """What the results page offers: to save the search under a name, or the names it has already."""

    query: str
    name: str
    saved_as: list[str]


def saved_page(
    user: User, zone: tzinfo, site: str, *, refused: RefusedSave | None = None, renaming: "Renaming | None" = None
) -> SavedPage:
    """Return the saved searches of a user by name; `site` is put before the addresses of feeds."""
    present = last_ids()
    rows = []
    for saved in SavedSearch.objects.filter(user=user).order_by("key"):
        is_renamed = renaming is not None and renaming.id == saved.pk
        rows.append(
            SavedRow(
                id=saved.pk,
                name=clean(saved.name),
                url=saved.get_absolute_url(),
                explanation=clean(request_of(saved, zone).explanation),
                feed_address=site + saved.feed_url,
                since=saved.opened_at or saved.created_at,
                was_opened=saved.opened_at is not None,
                may_have_news=may_have_news(saved.seen, present),
                entered=renaming.entered if renaming and is_renamed else saved.name,
                errors=renaming.errors if renaming and is_renamed else [],
            )
        )
    return SavedPage(rows, refused)


@dataclass(frozen=True, slots=True)
class Renaming:
    """A name that could not be given to a saved search, and why not."""

    id: int
    entered: str
    errors: list[str]


def refused_save(name: str, query: str, zone: tzinfo, error: ValidationError) -> RefusedSave:
    request = request_of(SavedSearch(query=query), zone)
    codes = {one.code for one in error.error_list}
    return RefusedSave(name, query, clean(request.explanation), error.messages, "taken" in codes)


def save_control(user: User, request: SearchRequest) -> SaveControl:
    """Return the control of a search that is shown to a user."""
    query = query_string(request)
    names = SavedSearch.objects.filter(user=user, query=query).order_by("key").values_list("name", flat=True)
    return SaveControl(query, _proposed_name(request), [clean(name) for name in names])


def _proposed_name(request: SearchRequest) -> str:
    name = " ".join(clean(request.query).split()) or "All memories"
    return name if len(name) <= LONGEST_NAME else name[: LONGEST_NAME - 1].rstrip() + "…"


def recently_opened(user: User) -> Iterable[tuple[str, str]]:
    """Return names and addresses of the saved searches that a user opened last."""
    searches = SavedSearch.objects.filter(user=user).order_by(Coalesce("opened_at", "created_at").desc())
    return [(clean(one.name), one.get_absolute_url()) for one in searches[:RECENTLY_OPENED]]


def results_url(saved: SavedSearch) -> str:
    """Return the address of the results of a saved search."""
    return reverse("search") + (f"?{saved.query}" if saved.query else "")
