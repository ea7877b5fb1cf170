"""`memweb up` as a person meets it: real processes on a data folder of their own."""

import signal
import stat
from collections.abc import Iterator
from http import HTTPStatus
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from tests.management.memweb_process import Browser, Memweb, run_memweb
from tests.sources.claude_mem import ClaudeMem


@pytest.fixture(scope="module")
def claude_mem(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ClaudeMem]:
    """claude-mem's folder as its owner has it, with one observation."""
    database = ClaudeMem(tmp_path_factory.mktemp("claude-mem") / "claude-mem.db")
    database.session()
    database.observation("The lighthouse needs a new lamp")
    yield database
    database.connection.close()


@pytest.fixture(scope="module")
def memweb(tmp_path_factory: pytest.TempPathFactory, claude_mem: ClaudeMem) -> Iterator[Memweb]:
    """A memweb that was started for the first time."""
    data_dir = tmp_path_factory.mktemp("data") / "memweb"
    running = Memweb(data_dir, MEMWEB_CLAUDE_MEM=str(claude_mem.path.parent))
    running.read_until("Imported")
    yield running
    running.stop()


@pytest.fixture(scope="module")
def browser(memweb: Memweb) -> Browser:
    """A browser in which the printed link was opened."""
    browser = Browser(memweb.site)
    assert browser.get(memweb.link).location == "/"
    return browser


def the_only_line(text: str) -> str:
    [line] = text.splitlines()
    return line


def test_first_start_says_what_it_does(memweb: Memweb, claude_mem: ClaudeMem) -> None:
    subjects = [line[:13].strip() for line in memweb.lines]
    assert subjects == ["Data folder", "Database", "Static files", "First import", "Sign in", "", "First import"]
    assert memweb.lines[0].split()[-1] == str(memweb.data_dir)
    assert memweb.lines[3].startswith(f"First import  claude-mem's memories in {claude_mem.path.parent}")
    assert memweb.lines[6].startswith("First import  Imported ")


def test_printed_link_opens_the_pages(browser: Browser) -> None:
    page = browser.get("/")
    assert page.status == HTTPStatus.OK
    assert "The lighthouse needs a new lamp" in BeautifulSoup(page.body, "html.parser").get_text()


def test_printed_link_works_in_one_browser_only(memweb: Memweb, browser: Browser) -> None:
    other = Browser(memweb.site)
    assert other.get(memweb.link).status == HTTPStatus.FORBIDDEN
    assert other.get("/").location == "/accounts/login/?next=/"
    assert browser.get(memweb.link).location == "/"


def test_pages_need_the_session(memweb: Memweb) -> None:
    stranger = Browser(memweb.site)
    assert stranger.get("/").location == "/accounts/login/?next=/"
    assert stranger.get("/healthz").body == b"ok"


def test_static_files_have_hashed_names_and_are_kept_by_browsers(memweb: Memweb) -> None:
    page = BeautifulSoup(Browser(memweb.site).get("/accounts/login/").body, "html.parser")
    style = page.find("link", rel="stylesheet")
    assert style is not None
    answer = Browser(memweb.site).get(str(style["href"]))
    assert answer.status == HTTPStatus.OK
    assert "immutable" in answer.headers["Cache-Control"]


@pytest.mark.parametrize("path", ["/", "/static/css/base.css", "/healthz", "/no/such/page"])
def test_foreign_host_is_refused(browser: Browser, path: str) -> None:
    assert browser.get(path, Host="evil.example:8000").status == HTTPStatus.BAD_REQUEST


def test_answer_does_not_name_the_server(browser: Browser) -> None:
    assert browser.get("/healthz").headers["Server"] is None


def test_everything_written_is_its_owners_alone(memweb: Memweb) -> None:
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) & 0o077 for path in memweb.data_dir.iterdir()}
    assert modes == dict.fromkeys(modes, 0)
    assert {"memweb.sqlite3", "secret_key", "memweb.lock", "static"} <= set(modes)


def test_signin_prints_a_link_to_the_running_memweb(memweb: Memweb) -> None:
    done = run_memweb(memweb.data_dir, "signin")
    assert (done.returncode, done.stderr) == (0, "")
    link = the_only_line(done.stdout)
    assert link.startswith(f"{memweb.site}/accounts/link/")
    newcomer = Browser(memweb.site)
    assert newcomer.get(link).location == "/"
    assert newcomer.get("/").status == HTTPStatus.OK


def test_second_memweb_on_the_same_data_folder_is_refused(memweb: Memweb) -> None:
    done = run_memweb(memweb.data_dir, "up", "--port", "0")
    assert (done.returncode, done.stdout) == (1, "")
    line = the_only_line(done.stderr)
    assert line.startswith(f"memweb: another memweb runs with the data folder {memweb.data_dir} ")
    assert f"process {memweb.process_id}, {memweb.site}" in line


def test_port_that_is_taken_is_named(memweb: Memweb, tmp_path: Path) -> None:
    port = memweb.site.rpartition(":")[2]
    done = run_memweb(tmp_path, "up", MEMWEB_PORT=port)
    assert (done.returncode, done.stdout) == (1, "")
    line = the_only_line(done.stderr)
    assert line.startswith(f"memweb: port {port} of 127.0.0.1 is taken by another program;")
    assert f"MEMWEB_PORT={int(port) + 1} or --port {int(port) + 1}" in line


def test_second_start_finds_what_the_first_made_and_imports_what_is_new(
    memweb: Memweb, browser: Browser, claude_mem: ClaudeMem
) -> None:
    assert memweb.stop() == 0
    assert memweb.lines[-1] == "memweb stopped"
    claude_mem.observation("The lamp was replaced")
    again = Memweb(memweb.data_dir, MEMWEB_CLAUDE_MEM=str(claude_mem.path.parent))
    try:
        assert again.lines[1] == "Database      up to date"
        assert not any(line.startswith("Static files") for line in again.lines)
        assert again.read_until("Imported").startswith("First import  Imported 1 rows from ")
        assert again.link != memweb.link
        old_session = Browser(again.site, browser.cookies)
        text = BeautifulSoup(old_session.get("/").body, "html.parser").get_text()
        assert "The lamp was replaced" in text
        assert "The lighthouse needs a new lamp" in text
    finally:
        assert again.stop(signal.SIGTERM) == 0


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"MEMWEB_DATA_DIR": "/dev/null/memweb"}, "memweb: the data folder /dev/null/memweb cannot be made "),
        ({"MEMWEB_PORT": "eighty"}, "memweb: MEMWEB_PORT='eighty' is not a whole number from 1 to 65535"),
        ({"MEMWEB_PROT": "8000"}, "memweb: MEMWEB_PROT is not a setting of memweb; did you mean MEMWEB_PORT?"),
    ],
)
def test_setting_that_cannot_work_is_one_line(tmp_path: Path, variables: dict[str, str], message: str) -> None:
    done = run_memweb(tmp_path, "up", "--no-import", **variables)
    assert (done.returncode, done.stdout) == (1, "")
    assert the_only_line(done.stderr).startswith(message)


def test_file_that_is_no_database_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "memweb.sqlite3").write_bytes(b"certainly not a database" * 100)
    done = run_memweb(tmp_path, "up", "--port", "0")
    assert done.returncode == 1
    assert the_only_line(done.stderr).startswith(f"memweb: {tmp_path}/memweb.sqlite3 is damaged or no SQLite database;")
