"""`memweb signin`: a new link for the owner or for somebody else."""

import json
from io import StringIO

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from memweb.operations.instance import hold_data_dir
from memweb.operations.problems import Problem

pytestmark = pytest.mark.django_db


def sign_in(*arguments: str) -> tuple[str, str]:
    """Return what the command prints on stdout and on stderr."""
    out, err = StringIO(), StringIO()
    call_command("signin", *arguments, stdout=out, stderr=err, no_color=True)
    return out.getvalue().strip(), err.getvalue().strip()


def test_link_is_for_the_owner_who_is_made_when_missing() -> None:
    link, hint = sign_in()
    assert link.startswith("http://127.0.0.1:8000/accounts/link/")
    assert hint == "memweb is not running; start it with `memweb up`, then open the link"
    client = Client()
    client.get(link)
    assert client.session["_auth_user_id"] == str(User.objects.get(username="owner").pk)


def test_link_leads_to_the_memweb_that_runs() -> None:
    with hold_data_dir(settings.DATA_DIR) as announce:
        announce("http://127.0.0.1:4567")
        link, hint = sign_in()
    assert link.startswith("http://127.0.0.1:4567/accounts/link/")
    assert hint == ""


def test_link_to_a_memweb_that_is_still_starting_leads_where_it_will_be() -> None:
    with hold_data_dir(settings.DATA_DIR):
        link, hint = sign_in()
    assert link.startswith("http://127.0.0.1:8000/accounts/link/")
    assert hint == ""


def test_link_for_another_user() -> None:
    alice = User.objects.create_user("alice")
    answer = json.loads(sign_in("--user", "alice", "--json")[0])
    assert (answer["user"], answer["running"]) == ("alice", False)
    client = Client()
    client.get(answer["link"])
    assert client.session["_auth_user_id"] == str(alice.pk)


@pytest.mark.parametrize("name", ["nobody", "gone"])
def test_user_who_cannot_sign_in_is_refused(name: str) -> None:
    User.objects.create_user("gone", is_active=False)
    with pytest.raises(Problem, match=f"^there is no active user '{name}'; `memweb createsuperuser` makes one$"):
        sign_in("--user", name)
