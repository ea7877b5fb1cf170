"""Search by meaning in a real memweb: its own server, its own vector process, the real model."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect

from search.vectors.index_state import Phase, read_state
from search.vectors.model_files import BGE_SMALL
from search.vectors.ownership import index_owner
from tests.management.memweb_process import Memweb
from tests.real_models import folder_of
from tests.sources.claude_mem import ClaudeMem

TITLES = [
    "The sign-in page rejects every password after midnight",
    "Nightly copies of the database are kept for thirty days",
    "Buttons have more contrast in the dark theme",
    "Prices are rounded to cents before they are added up",
    "Pictures are shrunk before they are sent",
]


@pytest.fixture(scope="module")
def memweb(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memweb]:
    """A memweb in which every memory is embedded and in the vector index."""
    model = folder_of(BGE_SMALL)
    folder = tmp_path_factory.mktemp("meaning")
    source = ClaudeMem(folder / "claude-mem.db")
    source.session()
    for title in TITLES:
        source.observation(title)
    source.connection.close()
    memweb = Memweb(
        folder / "data",
        MEMWEB_EMBEDDER=BGE_SMALL.name,
        MEMWEB_MODEL_DIR=str(model),
        MEMWEB_CLAUDE_MEM=str(source.path),
    )
    try:
        wait_until_ready(memweb.data_dir)
        yield memweb
    finally:
        memweb.stop()


@pytest.fixture(scope="module")
def context(browser: Browser, memweb: Memweb) -> Iterator[BrowserContext]:
    context = browser.new_context(base_url=memweb.site)
    context.set_default_timeout(20_000)
    context.new_page().goto(memweb.link)
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext) -> Page:
    return context.new_page()


def wait_until_ready(data_dir: Path, seconds: float = 90) -> None:
    end = time.monotonic() + seconds
    while True:
        state = read_state(data_dir)
        if state and state.phase is Phase.READY and (state.held, state.missing, state.ghosts) == (len(TITLES), 0, 0):
            return
        assert time.monotonic() < end, f"waited in vain; the state is {state}"
        time.sleep(0.1)


def test_a_question_without_a_word_of_its_answer_finds_it(page: Page) -> None:
    page.goto("/")
    page.get_by_role("combobox", name="Search what agents remember").fill("login broken")
    expect(page.locator("li.hit").first).to_contain_text(TITLES[0])
    expect(page.locator("li.hit").first).to_contain_text("Found by meaning")
    expect(page.locator(".results-took")).to_contain_text("by words and meaning")
    expect(page.locator(".notice.is-warning")).to_have_count(0)


def test_search_goes_on_while_the_vector_index_is_damaged_and_is_whole_again_by_itself(
    page: Page, memweb: Memweb
) -> None:
    page.goto("/?q=login+broken")
    expect(page.locator("li.hit").first).to_contain_text(TITLES[0])
    owner = index_owner(memweb.data_dir)
    assert owner is not None
    for path in (memweb.data_dir / "chroma").rglob("*"):
        if path.is_file():
            path.write_bytes(b"damaged" * 100)
    os.kill(owner.process_id, signal.SIGKILL)
    page.goto("/?q=sign-in+page")
    expect(page.locator("li.hit").first).to_contain_text(TITLES[0])
    expect(page.locator(".notice.is-warning")).to_have_count(1)
    end = time.monotonic() + 90
    while page.locator(".notice.is-warning").count():
        assert time.monotonic() < end, "the notice does not go"
        time.sleep(0.2)
        page.goto("/?q=login+broken")
    wait_until_ready(memweb.data_dir)
    expect(page.locator("li.hit").first).to_contain_text(TITLES[0])
    assert [path.name for path in memweb.data_dir.glob("chroma.damaged-*")] != []
