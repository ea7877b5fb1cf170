"""Real queries that other programs got wrong, through the orchestrator and through the page."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from bs4 import BeautifulSoup
from django.db import connection, transaction
from django.test import Client

from memweb.memories.kinds import Kind
from memweb.memories.models import Observation
from search.keyword.schema import TABLES
from search.results import Fallback
from tests.search.searching import found_rows, search_for, shown_refs

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("corpus")]

# Query -> the rows of the corpus that it finds, the best first.
FOUND = {
    # apostrophes
    "don't use agents": [1],
    "don’t use agents": [1],
    "DON'T": [1],
    # paths; a row with only one of the parts is not above
    "Downloads/transcripts": [2],
    "src/a.ts": [2],
    "~/Downloads": [2],
    "downloads/TRANSCRIPTS": [2],
    # file names and versions; v10.3.6 is not v10.6.3
    "current.md": [3],
    "ubuntu 20.04": [3],
    "architecture-cur": [3],
    "architecture-current.md": [3],
    "v10.6.3": [4],
    "10.6.3": [4],
    "v10.3.6": [5, 4],
    "foo.bar": [],
    # other symbols
    "std::vector": [6],
    "grammar::fa": [6],
    "@nasa": [6],
    "#123": [6],
    "＃123": [6],
    "a=b": [6],
    "50%": [6, 8],
    "[br]": [6],
    r"x\y": [6],
    "a,b": [6],
    "a;b": [6],
    "<x>": [6],
    "C++": [6],
    "C#": [6],
    "c#": [6],
    "ops@example.org": [6],
    "why?": [],
    "hi!": [],
    # two words need not stand side by side, a phrase must
    "database migration": [7],
    '"migration of the database"': [7],
    '"database migration"': [],
    # Chinese, with identifiers in the middle; short and long
    "用户身份": [8],
    "身份验证": [8],
    "身份": [8],
    "itgc": [8],
    "gen-itgc": [8],
    "部署": [8],
    "库": [8],
    "数据库部署": [8],
    "修复 部署": [8],
    "数据库 完成": [8],
    # Japanese, Korean, Thai, Arabic, Hebrew
    "しりとり": [9],
    "天気": [9],
    "끝말잇기": [10],
    "데이터": [10],
    "마이그레이션": [10],
    "เข้าสู่ระบบ": [11],
    "تسجيل": [12],
    "התחברות": [13],
    "ログイン": [],
    # search as you type
    "ru": [19],
    "run": [19],
    "runn": [19],
    "runni": [19],
    "runnin": [19],
    "running": [19],
    # accents, composed and decomposed
    "caffe": [14],
    "caffè": [14],
    "caffe\u0300": [14],
    "Sao": [14],
    "São": [14],
    "Sa\u0303o": [14],
    "resume": [14],
    "résumé": [14],
    "naive": [14],
    "naïve": [14],
    "κοσμος": [14],
    "κόσμος": [14],
    "ΚΌΣΜΟΣ": [14],
    "cafe": [14],
    "caf\u00e9": [14],
    "cafe\u0301": [14],
    # identifiers and their parts
    "biometrics": [15],
    "unlockWithBiometrics": [15],
    "unlockwithbiometrics": [15],
    "OvertimeService": [15],
    "HCA060T": [15],
    "hca060t": [15],
    "soft logout": [15],
    "softLogout": [15],
    "softLogout()": [15],
    "atomic_write_json": [18],
    "atomic write json": [18],
    "refresh_token": [18],
    "refresh token": [18],
    "parse_http_response": [18],
    # an identifier is not its words apart
    "HTTPSConnection": [17],
    "httpsconnection": [17],
    "https connection": [17, 16],
    # abbreviated hashes
    "3fa9c1e": [20],
    "3fa9c1e07": [20],
    "3fa9c1effff": [20],
    "3fa9c1e08": [],
    # wildcards of LIKE are themselves
    "％": [21, 6],
    "%": [21, 6],
    "_": [21, 18],
    "100%": [21],
    "*": [],
    # nonsense
    "zxqv nonsense flurble": [],
}


@pytest.mark.parametrize("query", FOUND)
def test_query_finds_its_rows(query: str) -> None:
    result = search_for(query)
    assert (found_rows(query), result.total, result.fallback) == (FOUND[query], len(FOUND[query]), None)


@pytest.mark.parametrize("query", FOUND)
def test_page_lists_the_rows_of_a_query(reader: Client, query: str) -> None:
    response = reader.get("/", {"q": query}, headers={"HX-Request": "true"})
    soup = BeautifulSoup(response.content.decode(), "html.parser")
    rows = {str(one.ref): int(one.source_row.split("/")[1]) for one in Observation.objects.all()}
    assert [rows[str(hit["data-ref"])] for hit in soup.select("li.hit")] == FOUND[query]
    assert soup.select(".results")[0]["data-query"] == query
    assert response.status_code == 200


def test_every_longer_beginning_of_a_word_keeps_its_row() -> None:
    words = ["running", "architecture-current.md", "unlockwithbiometrics", "3fa9c1e07b2d4a55e1f0", "마이그레이션"]
    lost = [word[:end] for word in words for end in range(2, len(word) + 1) if not found_rows(word[:end])]
    assert lost == []


def test_different_queries_have_different_answers() -> None:
    answers = [found_rows(query) for query in ("agents migrations", "transcripts exports", "HTTPS handshake")]
    assert answers == [[1], [2], [16]]


@contextmanager
def keyword_index_off() -> Iterator[None]:
    """Drops all four tables of the index, without a trace afterwards."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            for kind in Kind:
                for trigger in ("insert", "update", "delete"):
                    cursor.execute(f"DROP TRIGGER {TABLES[kind]}_{trigger}")
                cursor.execute(f"DROP TABLE {TABLES[kind]}_vocab")
                cursor.execute(f"DROP TABLE {TABLES[kind]}")
        yield
        transaction.set_rollback(True)


WITHOUT_INDEX = Fallback(
    "sqlite",
    "the keyword index of passages, observations, prompts, session summaries cannot be read, so the newest of them"
    " were read one by one; `memweb index rebuild` repairs it",
)


@pytest.mark.parametrize("query", FOUND)
def test_query_finds_the_same_rows_without_the_index(query: str) -> None:
    with keyword_index_off():
        result = search_for(query)
        rows = found_rows(query)
    assert sorted(rows) == sorted(FOUND[query])
    # What has no letter or digit is in no index, so nothing is missed without it.
    is_indexed = any(map(str.isalnum, query))
    assert (result.strategy, result.fallback) == (("scan", WITHOUT_INDEX) if is_indexed else ("sqlite", None))


def test_page_says_that_the_index_is_off(reader: Client) -> None:
    with keyword_index_off():
        response = reader.get("/", {"q": "biometrics"})
    notice = BeautifulSoup(response.content.decode(), "html.parser").select_one(".notice.is-warning")
    assert len(shown_refs(response.content)) == 1
    assert notice is not None
    assert notice.get_text(strip=True) == WITHOUT_INDEX.reason


def test_newest_memories_are_listed_without_the_index(reader: Client) -> None:
    with keyword_index_off():
        rows = found_rows(limit=30)
        response = reader.get("/")
    assert rows == list(range(21, 0, -1))
    assert response.status_code == 200


TRACE = "\n".join(f'  File "/srv/app/module_{n}.py", line {n}, in handler_{n}\n    call({n})' for n in range(3000))
LONG = {
    "one letter": "x " * 10_000,
    "stack trace": TRACE[:200_000],
    "one word": "a" * 9_000,
    "long word of parts": "_".join(f"part{n}" for n in range(1_200)),
    "camel case": "PartOfName" * 900,
    "Chinese": "修复了用户身份验证失败的问题" * 700,
    "digits": "1 " * 5_000,
    "quotes": '"' * 10_000,
    "parentheses": "(" * 10_000,
    "negations": "-" * 10_000,
    "alternatives": "a OR " * 2_000,
    "fields": "project:x " * 1_000,
    "values": "project:" + ",".join(f"p{n}" for n in range(2_000)),
    "globs": "file:" + "*" * 5_000,
    "path": "file:" + "a/" * 4_000,
    "stars": "a* " * 3_000,
}


@pytest.mark.parametrize("name", LONG)
def test_very_long_query_is_answered(reader: Client, name: str) -> None:
    response = reader.get("/", {"q": LONG[name]})
    assert response.status_code == 200
    assert len(response.content) < 2_000_000


def test_long_query_says_how_much_of_it_was_used() -> None:
    assert search_for("x " * 10_000).notes == (
        "The search is too long; only its beginning was used, at most 10,000 characters.",
        "Only the first 64 words of the search were used; 4936 more were left out.",
    )
