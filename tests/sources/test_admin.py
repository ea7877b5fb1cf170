"""Imports in the admin: what they did can be read, and undone after a question."""

import json
from pathlib import Path

import pytest
from bs4 import BeautifulSoup
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client
from django.urls import reverse

from memweb.memories.models import ImportBatch, Observation, Project, Session
from tests.search.searching import found

pytestmark = pytest.mark.django_db
LIST = "admin:memories_importbatch_changelist"


@pytest.fixture
def owner(client: Client) -> Client:
    client.force_login(User.objects.create_superuser("owner"))
    return client


@pytest.fixture
def batch(tmp_path: Path) -> ImportBatch:
    row = {
        "id": 1,
        "memory_session_id": "mem-1",
        "project": "demo",
        "type": "bugfix",
        "title": "needle",
        "created_at_epoch": 1768899660000,
    }
    path = tmp_path / "export.json"
    path.write_text(json.dumps({"observations": [row], "sessions": [], "summaries": [], "prompts": []}))
    call_command("import", str(path), "--json")
    return ImportBatch.objects.get()


def test_undoing_an_import_asks_first_and_then_removes_all_of_it(owner: Client, batch: ImportBatch) -> None:
    chosen = {"action": "undo", "_selected_action": [str(batch.pk)]}
    asked = owner.post(reverse(LIST), chosen)
    page = BeautifulSoup(asked.content.decode(), "html.parser")
    assert [item.get_text(strip=True).rsplit(": ", 1)[1] for item in page.select("main li, #content li")] == [
        "1 observations"
    ]
    assert len(found("needle")) == 1
    done = owner.post(reverse(LIST), {**chosen, "confirmed": "1"}, follow=True)
    assert [str(message) for message in done.context["messages"]] == ["1 import undone."]
    assert (found("needle"), Observation.objects.count(), Session.objects.count(), Project.objects.count()) == (
        [],
        0,
        0,
        0,
    )
    batch.refresh_from_db()
    assert batch.status == ImportBatch.Status.UNDONE


def test_running_import_is_not_undone(owner: Client, batch: ImportBatch) -> None:
    ImportBatch.objects.update(status=ImportBatch.Status.RUNNING)
    chosen = {"action": "undo", "_selected_action": [str(batch.pk)], "confirmed": "1"}
    answer = owner.post(reverse(LIST), chosen, follow=True)
    assert [str(message) for message in answer.context["messages"]] == [f"Import {batch.pk} is still running."]
    assert Observation.objects.count() == 1


def test_report_of_an_import_is_shown(owner: Client, batch: ImportBatch) -> None:
    answer = owner.get(reverse("admin:memories_importbatch_change", args=[batch.pk]))
    report = BeautifulSoup(answer.content.decode(), "html.parser").select_one("pre")
    assert report is not None
    assert json.loads(report.get_text()) == batch.report
