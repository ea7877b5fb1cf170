"""Fixtures of the tests of search."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import transaction
from django.test import Client
from pytest_django.plugin import DjangoDbBlocker

Importing = Callable[..., AbstractContextManager[None]]


@pytest.fixture
def reader(db: None, client: Client) -> Client:
    """A browser that is signed in."""
    client.force_login(User.objects.create_user("reader"))
    return client


@pytest.fixture
def curator(db: None, client: Client) -> Client:
    """A browser in which somebody is signed in who may change everything."""
    client.force_login(User.objects.create_superuser("curator"))
    return client


@pytest.fixture(scope="session")
def imported(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Importing:
    """Imports files for as long as a context lasts: the transaction of every test in it becomes a savepoint."""

    @contextmanager
    def importing(*paths: Path) -> Iterator[None]:
        around = transaction.atomic()
        around._from_testcase = True  # type: ignore[attr-defined] - as Django's TestCase does
        with django_db_blocker.unblock():
            around.__enter__()
            for path in paths:
                call_command("import", str(path), "--json", stdout=_Nowhere())
        try:
            yield
        finally:
            with django_db_blocker.unblock():
                transaction.set_rollback(True)
                around.__exit__(None, None, None)

    return importing


class _Nowhere:
    def write(self, text: str) -> None:
        pass


@pytest.fixture(scope="module")
def corpus(shared: Path, imported: Importing) -> Iterator[None]:
    """The 21 observations of A_search_corpus.db, for all tests of a module."""
    with imported(shared / "cases/files/A_search_corpus.db"):
        yield
