"""The analyzer: what is written for a text and what a query asks for meet in an FTS5 table."""

import sqlite3
import string
from collections.abc import Sequence
from pathlib import Path

import pytest

from search.analysis import (
    STOP_WORDS,
    Alternative,
    QueryWord,
    Terms,
    clean,
    index_terms,
    normalize,
    phrase_atoms,
    query_words,
    spans,
)

# Quoted twice: as an option of the tokenizer and as a string of SQL.
SIGNS = string.punctuation.replace("'", "'" * 4)
TOKENIZER = f"ascii tokenchars ''{SIGNS}''"


class Index:
    """A small FTS5 table of the kind that memories have."""

    def __init__(self, rows: Sequence[tuple[int, str, str]]) -> None:
        self.database = sqlite3.connect(":memory:")
        self.database.execute(
            f"CREATE VIRTUAL TABLE documents USING fts5(title_terms, body_terms, variant_terms, tokenize='{TOKENIZER}')"
        )
        for number, title, body in rows:
            terms = index_terms(title, [body])
            self.database.execute(
                "INSERT INTO documents (rowid, title_terms, body_terms, variant_terms) VALUES (?, ?, ?, ?)",
                (number, terms.title, terms.body, terms.variants),
            )

    def find(self, query: str, *, prefix_last: bool = False) -> list[int]:
        return self._matches(" AND ".join(map(match_of, query_words(query, prefix_last=prefix_last))))

    def find_phrase(self, phrase: str) -> list[int]:
        return self._matches(quoted(phrase_atoms(phrase)))

    def _matches(self, expression: str) -> list[int]:
        found = self.database.execute(
            "SELECT rowid FROM documents WHERE documents MATCH ? ORDER BY rowid", (expression,)
        )
        return [number for (number,) in found]


def quoted(atoms: Sequence[str]) -> str:
    return '"' + " ".join(atoms).replace('"', '""') + '"'


def match_of(word: QueryWord) -> str:
    phrases = [quoted(one.atoms) + (" *" if one.prefix else "") for one in word.alternatives]
    return f"({' OR '.join(phrases)})"


def finds(text: str, query: str, *, prefix_last: bool = False) -> bool:
    return Index([(1, "", text)]).find(query, prefix_last=prefix_last) == [1]


@pytest.fixture(scope="module")
def corpus(shared: Path) -> Index:
    """The observations of the search cases, under their numbers."""
    source = sqlite3.connect(f"file:{shared / 'cases/files/A_search_corpus.db'}?mode=ro&immutable=1", uri=True)
    return Index(source.execute("SELECT id, title, narrative FROM observations").fetchall())


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("don't use agents", [1]),
        ("don’t use agents", [1]),
        ("Downloads/transcripts", [2]),
        ("src/a.ts", [2]),
        ("~/Downloads", [2]),
        ("current.md", [3]),
        ("ubuntu 20.04", [3]),
        ("v10.6.3", [4]),
        ("10.6.3", [4]),
        ("v10.3.6", [4, 5]),
        ("@nasa", [6]),
        ("#123", [6]),
        ("a=b", [6]),
        ("[br]", [6]),
        ("x\\y", [6]),
        ("C++", [6]),
        ("C#", [6]),
        ("ops@example.org", [6]),
        ("std::vector", [6]),
        ("grammar::fa", [6]),
        ("database migration", [7]),
        ("用户身份", [8]),
        ("身份验证", [8]),
        ("itgc", [8]),
        ("gen-itgc", [8]),
        ("重跑gen-itgc后", [8]),
        ("部署", [8]),
        ("库", [8]),
        ("数据库部署", [8]),
        ("修复 部署", [8]),
        ("しりとり", [9]),
        ("天気", [9]),
        ("끝말잇기", [10]),
        ("เข้าสู่ระบบ", [11]),
        ("تسجيل", [12]),
        ("התחברות", [13]),
        ("caffe", [14]),
        ("caffè", [14]),
        ("Sao", [14]),
        ("São", [14]),
        ("resume", [14]),
        ("résumé", [14]),
        ("naive", [14]),
        ("naïve", [14]),
        ("κοσμος", [14]),
        ("κόσμος", [14]),
        ("cafe", [14]),
        ("cafe\u0301", [14]),
        ("caf\u00e9", [14]),
        ("biometrics", [15]),
        ("unlockWithBiometrics", [15]),
        ("unlockwithbiometrics", [15]),
        ("OvertimeService", [15]),
        ("HCA060T", [15]),
        ("soft logout", [15]),
        ("softlogout", [15]),
        ("HTTPSConnection", [17]),
        ("httpsconnection", [17]),
        ("https connection", [16, 17]),
        ("atomic_write_json", [18]),
        ("atomic write json", [18]),
        ("refresh_token", [18]),
        ("run", [19]),
        ("running", [19]),
        ("3fa9c1e", [20]),
        ("3fa9c1e07", [20]),
        ("3fa9c1d", []),
        ("under_score", [21]),
        ("zxqv nonsense flurble", []),
    ],
)
def test_queries_of_the_cases_find_their_rows_only(corpus: Index, query: str, found: list[int]) -> None:
    assert corpus.find(query) == found


def test_percent_is_left_out_of_a_number(corpus: Index) -> None:
    assert corpus.find("50%") == [6, 8]


@pytest.mark.parametrize("query", ["r", "ru", "run", "runn", "runni", "running"])
def test_typing_a_word_keeps_its_row(corpus: Index, query: str) -> None:
    assert 19 in corpus.find(query, prefix_last=True)


def test_typing_a_file_name_finds_it(corpus: Index) -> None:
    assert corpus.find("architecture-cur", prefix_last=True) == [3]


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("why? said hi! to <x> with a,b and a;b", "why?"),
        ("why? said hi! to <x> with a,b and a;b", "hi!"),
        ("why? said hi! to <x> with a,b and a;b", "<x>"),
        ("why? said hi! to <x> with a,b and a;b", "a,b"),
        ("why? said hi! to <x> with a,b and a;b", "a;b"),
        ("uses my-web-component here", "my-web-component"),
        ("uses my-web-component here", "web-component"),
        ("import os.path.join", "os.path"),
        ("import os.path.join", "path.join"),
        (r"C:\Users\me\AppData\Local", r"C:\Users\me"),
        (r"C:\Users\me\AppData\Local", "AppData"),
        (r"C:\Users\me\AppData\Local", r"me\appdata\local"),
        ("absl::StrCat", "absl::strcat"),
        ("see archive.2024.tar.gz now", "archive.2024.tar.gz"),
        ("see archive.2024.tar.gz now", "tar.gz"),
        ("mail jane.doe+tag@mail.example.org!", "jane.doe+tag@mail.example.org"),
        ("at https://example.org:8080/a/b?q=1#frag,", "https://example.org:8080/a/b?q=1#frag"),
        ("at https://example.org:8080/a/b?q=1#frag,", "example.org"),
        ("id 550e8400-e29b-41d4-a716-446655440000", "550e8400-e29b-41d4-a716-446655440000"),
        ("id 550e8400-e29b-41d4-a716-446655440000", "550e8400"),
        ("id 550e8400-e29b-41d4-a716-446655440000", "550e8400-e29b-41"),
        ("release v2.0.0-rc.1+build5", "v2.0.0-rc.1+build5"),
        ("release v2.0.0-rc.1+build5", "2.0.0-rc.1"),
        ("release v2.0.0-rc.1+build5", "v2.0.0"),
        ("closes ABC-123", "ABC-123"),
        ("closes ABC-123", "abc-123"),
        ("src/components/UserSettings.tsx:42", "src/components/usersettings.tsx"),
        ("src/components/UserSettings.tsx:42", "usersettings.tsx"),
        ("src/components/UserSettings.tsx:42", "UserSettings.tsx"),
        ("src/components/usersettings.tsx", "UserSettings.tsx"),
        ("uses the OAuth2Client", "client"),
        ("uses the OAuth2Client", "oauth2client"),
        ("uses the OAuth2Client", "oauth2 client"),
        ("runs GitHubActions", "github actions"),
        ("parses URLs and IDs", "url"),
        ("parses URLs and IDs", "id"),
        ("needs python3", "python"),
        ("compile as C++17", "C++"),
        ("compile as C++17", "c++17"),
        ("O'Brien agreed", "obrien"),
        ("OBrien agreed", "O'Brien"),
        ("Caroline’s plan", "caroline"),
        ("they don’t", "dont"),
        ("rock'n'roll", "rock'n'roll"),
        ("we'll see", "we'll"),
        ('{"fooBar":"bazQux","n":12}', "bazqux"),
        ("f(x)->g(y)", "g(y)"),
        ("git rev 3FA9C1E07B", "3fa9c1e"),
        ("\x1b[31mred\x1b[0m \x1b]8;;https://example.org\x07link\x1b]8;;\x07", "red link"),
        ("soft\u00adhyphen", "softhyphen"),
        ("zero\u200bwidth", "zerowidth"),
        ("a\rb", "b"),
        ("x²", "x2"),
    ],
)
def test_identifiers_are_found_as_written_and_in_part(text: str, query: str) -> None:
    assert finds(text, query)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("HTTPS handshake failed for Connection #42", "HTTPSConnection"),
        ("soft drinks, then logout", "softLogout"),
        ("v10.3.6", "v10.6.3"),
        ("we'll and she'll", "well"),
        ("she'll come", "shell"),
        ("foo barfoo", "foo.bar"),
        ("foobar", "foo.bar"),
        ("C language", "C++"),
        ("C++ language", "C"),
        ("caffè", "cafe"),
        ("deadbeef12", "deadbeef"),
        ("用户", "身份"),
        ("用身户份", "用户"),
        ("v10.6.30", "v10.6.3"),
        ("one\x1b]8;;https://example.org\x07two\x1b]8;;\x07", "example"),
    ],
)
def test_what_only_looks_alike_is_not_found(text: str, query: str) -> None:
    assert not finds(text, query)


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("हिन्दी में खोज", "हिन्दी"),
        ("हिन्दी में खोज", "खोज"),
        ("ភាសាខ្មែរងាយស្រួល", "ខ្មែរ"),
        ("မြန်မာစာကိုရှာပါ", "မြန်မာ"),
        ("ພາສາລາວງ່າຍ", "ລາວ"),
        ("ΑΘΉΝΑ και Όσλο", "αθηνα"),
        ("οδός", "ΟΔΟΣ"),
        ("Новый ёж", "еж"),
        ("Новый ёж", "НОВЫЙ"),
        ("Но\u0301вый", "новый"),
        ("ILIK Diyarbakır", "diyarbakir"),
        ("İstanbul", "istanbul"),
        ("Straße", "STRASSE"),
        ("Ｆｕｌｌ　ｗｉｄｔｈ", "full width"),
        ("ｖ１０．６．３", "v10.6.3"),
        ("ｃ＋＋", "C++"),
        ("eﬃcient ﬁle", "efficient file"),
        ("done✅next🚀launch", "next"),
        ("done✅next🚀launch", "launch"),
        ("Søren Łódź Æsop", "soren lodz aesop"),
        ("Đặng Thị", "dang thi"),
        ("ﾃﾞｰﾀ", "データ"),
        ("データ", "ﾃﾞｰﾀ"),
        ("한국어", "\u1112\u1161\u11ab\u1100\u116e\u11a8"),
        ("\u1112\u1161\u11ab\u1100\u116e\u11a8어", "한국"),
        ("שָׁלוֹם עולם", "שלום"),
        ("العَرَبِيَّة", "العربية"),
        ("الـــعربية", "العربية"),
        ("コードreviewを依頼", "review"),
        ("コードreviewを依頼", "reviewを依頼"),
        ("使用Python3和Django", "python"),
        ("使用Python3和Django", "django 使用"),
        ("用户，身份。", "用户，身份"),
        ("Foo™ bar", "foo"),
        ("می\u200cخواهم", "میخواهم"),
        ("𠮷野家", "𠮷野"),
        ("Größe2Map", "größe2map"),
        ("größeMap", "map"),
        ("1️⃣ first", "1"),
    ],
)
def test_other_scripts_and_forms_are_found(text: str, query: str) -> None:
    assert finds(text, query)


@pytest.mark.parametrize(
    ("text", "phrase", "found"),
    [
        ("the database migration ended", "database migration", True),
        ("migration of the database", "database migration", False),
        ("databases migration", "database migration", False),
        ("用户身份验证", "户身份", True),
        ("用户身份 验证失败", "身份 验证", True),
        ("重跑gen-itgc后50条", "跑gen-itgc后50", True),
        ("calls softLogout()", "soft logout", True),
        ("it isn't done", "isn’t done", True),
    ],
)
def test_phrase_is_found_as_it_stands(text: str, phrase: str, found: bool) -> None:
    assert Index([(1, "", text)]).find_phrase(phrase) == ([1] if found else [])


def test_phrase_does_not_cross_a_field() -> None:
    assert index_terms("", ["one two", "three"]).body == "one two =| three"


def test_empty_fields_leave_no_trace() -> None:
    assert index_terms("", ["", "one", " — ", "two"]) == Terms("", "one =| two", "")


def test_title_and_body_share_their_variants() -> None:
    assert index_terms("Running tests", ["tests run", "softLogout"]) == Terms(
        "running tests", "tests run =| soft logout", "test softlogout"
    )


@pytest.mark.parametrize(
    ("text", "atoms", "variants"),
    [
        ("HTTPSConnection", "https connection", "connect httpsconnection httpsconnect"),
        ("v10.6.3", "10 6 3", "v10.6.3 v10"),
        ("hca060t w123 sha256", "hca060t w123 sha256", "hca sha"),
        ("C++ C# F# g++", "c++ c# f# g++", ""),
        ("3fa9c1e07b2d", "3fa9c1e07b2d", ""),
        ("deadbeef12", "deadbeef12", ""),
        ("重跑gen-itgc后", "重跑 跑 gen itgc 后", ""),
        ("Straße", "strasse", "strass"),
        ("x" * 300, "x" * 64, ""),
        ("x" * 150, "x" * 64, ""),
        ("don't O'Brien's", "dont o brien", "obrien"),
        ("\ud800broken\x00 text", "broken text", ""),
    ],
)
def test_terms_of_one_text(text: str, atoms: str, variants: str) -> None:
    assert index_terms("", [text]) == Terms("", atoms, variants)


def test_encoded_blob_leaves_little_behind() -> None:
    blob = "data:image/png;base64," + "iVBORw0KGgoAAAANSUhEUgAAB4" * 500
    terms = index_terms("", [blob])
    assert terms.body.startswith("data image png base64 ")
    assert len(terms.body) + len(terms.variants) < 600


def test_long_path_is_no_blob() -> None:
    path = "/".join(f"Folder{number}" for number in range(40))
    assert finds(path, "folder39")


def test_stems_match_in_both_directions() -> None:
    index = Index([(1, "", "migrations"), (2, "", "migrating"), (3, "", "migrate")])
    assert [index.find(query) for query in ("migrate", "migrations", "migrating")] == [[1, 2, 3]] * 3


def test_query_word_lists_the_most_exact_first() -> None:
    assert query_words("softLogouts") == [
        QueryWord(
            "softLogouts",
            (Alternative(("soft", "logouts")), Alternative(("softlogouts",)), Alternative(("softlogout",))),
            stop=False,
        )
    ]


def test_only_the_last_query_word_is_a_prefix() -> None:
    words = query_words("fix log", prefix_last=True)
    assert [[one.prefix for one in word.alternatives] for word in words] == [[False], [False, True]]


def test_short_hash_is_a_prefix_and_a_plain_word_is_not() -> None:
    prefixes = [any(one.prefix for one in word.alternatives) for word in query_words("3fa9 deed 2024 a1 face2 v1 e2eb")]
    assert prefixes == [True, False, False, False, True, False, True]


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("重跑gen-itgc后", ["重跑", "gen-itgc", "后"]),
        ("(foo.bar) — ~/x!", ["(foo.bar)", "~/x!"]),
        ("用户，身份", ["用户", "身份"]),
        ("ｇｅｎ重", ["gen", "重"]),
        ("% _ ％ 👍 …", []),
        ("", []),
        ("a\tb\nc", ["a", "b", "c"]),
    ],
)
def test_query_is_cut_at_blanks_and_scripts(query: str, words: list[str]) -> None:
    assert [word.text for word in query_words(query)] == words


def test_function_words_are_marked() -> None:
    assert [word.stop for word in query_words("what is it's the IN-THE not no don't never plan we'll")] == [
        *[True] * 5,
        *[False] * 5,
        True,
    ]


def test_stop_words_hold_no_negation() -> None:
    assert STOP_WORDS.isdisjoint({"no", "not", "dont", "never", "none", "cannot", "without", "nothing"})


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("call softLogout()", ["call", "soft", "Logout"]),
        ("  v10.6.3, C++", ["10", "6", "3", "C++"]),
        ("Don't — Caroline’s", ["Don't", "Caroline"]),
        ("\x1b[1mbold\x1b[0m te\u200bxt", ["bold", "te\u200bxt"]),
        ("cafe\u0301 ﬁne ½x", ["cafe\u0301", "ﬁne", "½", "½x"]),
        ("身份验证gen", ["身份", "份验", "验证", "证", "gen"]),
        ("ﾃﾞｰﾀ", ["ﾃﾞｰ", "ｰﾀ", "ﾀ"]),
        ("שָׁלוֹם", ["שָׁל", "לוֹ", "וֹם", "ם"]),
        ("น้ำ", ["น้", "น้ำ", "ำ", "ำ"]),
        ("\x1b[31mfoo\r\nbar", ["foo", "bar"]),
    ],
)
def test_spans_lie_on_the_original_text(text: str, pieces: list[str]) -> None:
    assert [text[span.start : span.end] for span in spans(text)] == pieces


def test_spans_carry_atom_and_variants() -> None:
    assert [span.tokens for span in spans("softLogouts python3")] == [
        {"soft", "softlogouts", "softlogout"},
        {"logouts", "logout", "softlogouts", "softlogout"},
        {"python3", "python"},
    ]


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("\x1b[1;31mred\x1b[0m", "red"),
        ("\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]0;title\x07after", "after"),
        ("\x1b(Bset \x1b7saved", "set 7saved"),
        ("nul\x00 bell\x07 del\x7f c1\x90", "nul bell del c1"),
        ("line\r\nline\rline", "line\nline\nline"),
        ("page\x0cbreak\x85next", "page break next"),
        ("user\u202egpj.exe\u2066x\u2069", "usergpj.exex"),
        ("a\u200bb\u200cc\u200dd\ufefff\u2060", "abcdf"),
        ("tag\U000e0041\U000e0042", "tag"),
        ("lone \ud83d and \udc4d", "lone \ufffd and \ufffd"),
        ("⚠\ufe0f 👩\u200d💻 می\u200cخواهم", "⚠\ufe0f 👩\u200d💻 می\u200cخواهم"),
        ("x\ufe0f\u200dy", "xy"),
    ],
)
def test_clean_removes_what_cannot_be_seen(text: str, cleaned: str) -> None:
    assert clean(text) == cleaned


@pytest.mark.parametrize(
    ("text", "normal"),
    [
        ("100％ Sure", "100% sure"),
        ("Cafe\u0301 ΚΌΣΜΟΣ", "cafe κοσμοσ"),
        ("don’t\x00", "don't"),
        ("Й ё", "й е"),
    ],
)
def test_normalize_levels_what_search_ignores(text: str, normal: str) -> None:
    assert normalize(text) == normal
