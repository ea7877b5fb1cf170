"""Settings from the environment: safe defaults, and a clear word about nonsense."""

import json
import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from memweb.environment import ChromaServer, EmbeddingService, Environment

READ = """
import json
from memweb import settings
names = %r
print(json.dumps({name: getattr(settings, name) for name in names}))
"""


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in list(os.environ):
        if name.startswith(("MEMWEB_", "CHROMA_")) or name == "DATABASE_URL":
            monkeypatch.delenv(name)
    return monkeypatch


def settings_with(data_dir: Path, names: list[str], **variables: str) -> dict[str, object]:
    """Return settings as a fresh process reads them."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("MEMWEB_")}
    answer = subprocess.run(  # noqa: S603
        [sys.executable, "-c", READ % names],
        env={**clean, "MEMWEB_DATA_DIR": str(data_dir), **variables},
        capture_output=True,
        text=True,
        check=True,
    )
    values: dict[str, object] = json.loads(answer.stdout)
    return values


def test_defaults_are_closed(tmp_path: Path) -> None:
    names = ["DEBUG", "HOST", "PORT", "ALLOWED_HOSTS", "SESSION_COOKIE_SECURE", "SECURE_HSTS_SECONDS"]
    assert settings_with(tmp_path, names) == {
        "DEBUG": False,
        "HOST": "127.0.0.1",
        "PORT": 8000,
        "ALLOWED_HOSTS": ["localhost", "127.0.0.1", "[::1]"],
        "SESSION_COOKIE_SECURE": False,
        "SECURE_HSTS_SECONDS": 0,
    }


def test_settings_follow_the_environment(tmp_path: Path) -> None:
    names = ["ALLOWED_HOSTS", "SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE", "SECURE_HSTS_SECONDS", "TIME_ZONE"]
    variables = {
        "MEMWEB_ALLOWED_HOSTS": "memweb.example, .team.example",
        "MEMWEB_HTTPS": "1",
        "MEMWEB_TIME_ZONE": "Europe/Berlin",
    }
    assert settings_with(tmp_path, names, **variables) == {
        "ALLOWED_HOSTS": ["localhost", "127.0.0.1", "[::1]", "memweb.example", ".team.example"],
        "SESSION_COOKIE_SECURE": True,
        "CSRF_COOKIE_SECURE": True,
        "SECURE_HSTS_SECONDS": 2592000,
        "TIME_ZONE": "Europe/Berlin",
    }


def test_cookies_are_named_after_the_data_folder(tmp_path: Path) -> None:
    names = ["SESSION_COOKIE_NAME", "CSRF_COOKIE_NAME"]
    (tmp_path / "link").symlink_to(tmp_path / "a")
    first, again, other = (settings_with(tmp_path / folder, names) for folder in ("a", "link", "b"))
    assert first == again
    assert len({*first.values(), *other.values()}) == 4
    assert all(re.fullmatch(r"memweb_(session|csrf)_[0-9a-f]{8}", str(name)) for name in first.values())


def test_unknown_variable_is_refused_with_the_near_one(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("MEMWEB_ALOWED_HOSTS", "a")
    with pytest.raises(ImproperlyConfigured, match=r"^MEMWEB_ALOWED_HOSTS is not .* mean MEMWEB_ALLOWED_HOSTS\?$"):
        Environment()


@pytest.mark.parametrize("value", ["0", "65536", "-1", "80a", "8000.0", "٣٢", "1e3"])
def test_number_outside_its_range_is_refused(environment: pytest.MonkeyPatch, value: str) -> None:
    environment.setenv("MEMWEB_PORT", value)
    with pytest.raises(ImproperlyConfigured, match=r"^MEMWEB_PORT=.* is not a whole number from 1 to 65535$"):
        Environment().number("MEMWEB_PORT", 8000, 1, 65535)


@pytest.mark.parametrize(
    ("value", "meaning"), [("1", True), ("yes", True), ("ON", True), ("0", False), ("false", False)]
)
def test_flag_reads_yes_and_no(environment: pytest.MonkeyPatch, value: str, meaning: bool) -> None:
    environment.setenv("MEMWEB_DEBUG", value)
    assert Environment().flag("MEMWEB_DEBUG", not meaning) is meaning


def test_flag_that_is_neither_is_refused(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("MEMWEB_DEBUG", "maybe")
    with pytest.raises(ImproperlyConfigured, match=r"^MEMWEB_DEBUG='maybe' is not a yes or no; use 1 or 0$"):
        Environment().flag("MEMWEB_DEBUG", False)


@pytest.mark.parametrize("host", ["http://memweb.example", "memweb.example:8000", "memweb.example/path", "::1"])
def test_host_name_with_more_than_a_name_is_refused(environment: pytest.MonkeyPatch, host: str) -> None:
    environment.setenv("MEMWEB_ALLOWED_HOSTS", f"localhost,{host}")
    with pytest.raises(ImproperlyConfigured, match=r"^MEMWEB_ALLOWED_HOSTS: .* is not a host name"):
        Environment().host_names("MEMWEB_ALLOWED_HOSTS")


@pytest.mark.parametrize("zone", ["Mars/Olympus", "/etc/passwd", "../UTC", "Europe"])
def test_time_zone_that_does_not_exist_is_refused(environment: pytest.MonkeyPatch, zone: str) -> None:
    environment.setenv("MEMWEB_TIME_ZONE", zone)
    with pytest.raises(ImproperlyConfigured, match=r"^MEMWEB_TIME_ZONE=.* is not a time zone"):
        Environment().time_zone("MEMWEB_TIME_ZONE", "UTC")


def test_data_folder_and_what_is_in_it_are_their_owners_alone(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    environment.setenv("MEMWEB_DATA_DIR", str(tmp_path / "a" / "memweb"))
    folder = Environment().data_dir()
    Environment().secret_key(folder)
    modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in [folder, *folder.iterdir()]}
    assert modes == {"memweb": 0o700, "secret_key": 0o600}


def test_data_folder_in_the_place_of_a_file_is_refused(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    environment.setenv("MEMWEB_DATA_DIR", str(file / "memweb"))
    with pytest.raises(ImproperlyConfigured, match=r"^the data folder .* cannot be made .*; set MEMWEB_DATA_DIR"):
        Environment().data_dir()


def test_secret_key_is_made_once(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    first, second = Environment().secret_key(tmp_path), Environment().secret_key(tmp_path)
    assert first == second
    assert len(first) == 86  # 64 bytes in base64 without padding


def test_secret_key_of_the_environment_comes_first(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    environment.setenv("MEMWEB_SECRET_KEY", "k" * 32)
    assert Environment().secret_key(tmp_path) == "k" * 32
    assert list(tmp_path.iterdir()) == []
    environment.setenv("MEMWEB_SECRET_KEY", "short")
    with pytest.raises(ImproperlyConfigured, match=r"^MEMWEB_SECRET_KEY is shorter than 32 characters"):
        Environment().secret_key(tmp_path)


def test_secret_key_file_that_holds_none_is_refused(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "secret_key").write_text("\n", encoding="ascii")
    with pytest.raises(ImproperlyConfigured, match=r"holds no usable key; remove it and a new one is made$"):
        Environment().secret_key(tmp_path)


def test_reading_the_settings_makes_no_database(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert Environment().database(tmp_path)["NAME"] == str(tmp_path / "memweb.sqlite3")
    assert list(tmp_path.iterdir()) == []


def test_database_other_than_sqlite_is_refused_without_its_password(
    environment: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    environment.setenv("DATABASE_URL", "postgres://me:pass-word@localhost/memweb")
    with pytest.raises(ImproperlyConfigured, match=r"^DATABASE_URL='postgres'") as refusal:
        Environment().database(tmp_path)
    assert "pass-word" not in str(refusal.value)


@pytest.mark.parametrize(
    "value", ["", "bge-small", "multilingual", "off", "http", "fastembed:BAAI/bge-m3", "sentence-transformers:a/b:c"]
)
def test_embedder_is_one_that_exists(environment: pytest.MonkeyPatch, value: str) -> None:
    environment.setenv("MEMWEB_EMBEDDER", value)
    assert Environment().embedder() == (value or "bge-small")


@pytest.mark.parametrize("value", ["bge", "Off", "fastembed", "fastembed:", "openai:model", "bge-small:x", "http:x"])
def test_embedder_that_does_not_exist_is_refused(environment: pytest.MonkeyPatch, value: str) -> None:
    environment.setenv("MEMWEB_EMBEDDER", value)
    with pytest.raises(
        ImproperlyConfigured,
        match=r"^MEMWEB_EMBEDDER=.* is not one of bge-small, multilingual, off, http, fastembed:MODEL, sentence-",
    ):
        Environment().embedder()


SERVICE = {
    "MEMWEB_EMBEDDER_URL": "http://127.0.0.1:8080/v1/",
    "MEMWEB_EMBEDDER_MODEL": "some-model",
    "MEMWEB_EMBEDDER_DIMENSION": "768",
    "MEMWEB_EMBEDDER_KEY": "key of mine",
}


def test_embedding_service_is_read_and_does_not_show_its_key(environment: pytest.MonkeyPatch) -> None:
    for name, value in SERVICE.items():
        environment.setenv(name, value)
    service = Environment().embedding_service("http")
    assert service == EmbeddingService("http://127.0.0.1:8080/v1", "some-model", 768, "key of mine")
    assert "key of mine" not in repr(service)


@pytest.mark.parametrize("name", [name for name in SERVICE if name != "MEMWEB_EMBEDDER_KEY"])
def test_embedding_service_needs_all_but_its_key(environment: pytest.MonkeyPatch, name: str) -> None:
    for other, value in SERVICE.items():
        if other != name:
            environment.setenv(other, value)
    with pytest.raises(ImproperlyConfigured, match=f"^MEMWEB_EMBEDDER=http needs {name}$"):
        Environment().embedding_service("http")


@pytest.mark.parametrize("name", SERVICE)
def test_setting_of_a_service_that_is_not_asked_is_refused(environment: pytest.MonkeyPatch, name: str) -> None:
    environment.setenv(name, SERVICE[name])
    with pytest.raises(ImproperlyConfigured, match=f"^{name} is of no use without MEMWEB_EMBEDDER=http$"):
        Environment().embedding_service("bge-small")


@pytest.mark.parametrize(
    "url", ["127.0.0.1:8080", "ftp://host/v1", "http://", "http://[::1", "file:///v1", "http://me:pass-word@host/v1"]
)
def test_address_that_is_none_is_refused_and_not_repeated(environment: pytest.MonkeyPatch, url: str) -> None:
    for name, value in {**SERVICE, "MEMWEB_EMBEDDER_URL": url}.items():
        environment.setenv(name, value)
    with pytest.raises(ImproperlyConfigured, match=r"^MEMWEB_EMBEDDER_URL is not an address such as") as refusal:
        Environment().embedding_service("http")
    assert "pass-word" not in str(refusal.value)


@pytest.mark.parametrize("dimension", ["0", "-1", "4097", "many"])
def test_dimension_outside_its_range_is_refused(environment: pytest.MonkeyPatch, dimension: str) -> None:
    for name, value in {**SERVICE, "MEMWEB_EMBEDDER_DIMENSION": dimension}.items():
        environment.setenv(name, value)
    with pytest.raises(ImproperlyConfigured, match=r"^MEMWEB_EMBEDDER_DIMENSION=.* from 1 to 4096$"):
        Environment().embedding_service("http")


def test_model_folder_may_come_later_but_is_no_file(environment: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert Environment().folder("MEMWEB_MODEL_DIR") is None
    environment.setenv("MEMWEB_MODEL_DIR", str(tmp_path / "later"))
    assert Environment().folder("MEMWEB_MODEL_DIR") == tmp_path / "later"
    (tmp_path / "later").touch()
    with pytest.raises(ImproperlyConfigured, match=r"^MEMWEB_MODEL_DIR=.*/later' is not a folder$"):
        Environment().folder("MEMWEB_MODEL_DIR")


def test_vector_index_lies_in_the_data_folder_without_a_server(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("CHROMA_TENANT", "of another program")
    assert Environment().chroma_server() is None


def test_chroma_server_is_read_and_does_not_show_its_token(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("CHROMA_URL", "https://chroma.example/")
    server = Environment().chroma_server()
    assert server == ChromaServer("https://chroma.example", "default_tenant", "default_database", "")
    assert (server.host, server.port, server.is_secure) == ("chroma.example", 443, True)
    for name, value in {"URL": "http://[::1]:8001", "TENANT": "us", "DATABASE": "ours", "TOKEN": "token of us"}.items():
        environment.setenv(f"CHROMA_{name}", value)
    server = Environment().chroma_server()
    assert server == ChromaServer("http://[::1]:8001", "us", "ours", "token of us")
    assert (server.host, server.port, server.is_secure) == ("[::1]", 8001, False)
    assert "token of us" not in repr(server)


CHROMA_ADDRESS = "use CHROMA_URL=https://chroma.example:8001"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("CHROMA_URL", "chroma.example:8000", "CHROMA_URL is not an address such as http://127.0.0.1:8000, without"),
        ("CHROMA_URL", "http://me:pass-word@chroma.example", "CHROMA_URL is not an address such as"),
        *[
            ("CHROMA_URL", f"https://chroma.example:8001{more}", f"CHROMA_URL ends in {shown}, .* {CHROMA_ADDRESS}$")
            for more, shown in (
                ("/api/v2", "/api/v2"),
                ("/v1", "/v1"),
                ("/v1/", "/v1"),
                ("?tenant=us", "[?]tenant=us"),
                ("/#here", "/#here"),
            )
        ],
        ("CHROMA_TOKEN", "tökén", "CHROMA_TOKEN has characters that no token has"),
    ],
)
def test_chroma_server_that_cannot_be_is_refused(
    environment: pytest.MonkeyPatch, name: str, value: str, message: str
) -> None:
    environment.setenv("CHROMA_URL", "http://127.0.0.1:8000")
    environment.setenv(name, value)
    with pytest.raises(ImproperlyConfigured, match=f"^{message}") as refusal:
        Environment().chroma_server()
    assert value not in str(refusal.value)


@pytest.mark.parametrize(
    ("variables", "wanted"),
    [
        ({}, ("weights", (0.4, 0.2, 0.4))),
        ({"MEMWEB_FUSION": "ranks"}, ("ranks", (0.4, 0.2, 0.4))),
        ({"MEMWEB_FUSION_WEIGHTS": "0.6, 0.4, 0"}, ("weights", (0.6, 0.4, 0.0))),
        ({"MEMWEB_FUSION": "", "MEMWEB_FUSION_WEIGHTS": ""}, ("weights", (0.4, 0.2, 0.4))),
    ],
)
def test_fusion_is_read(environment: pytest.MonkeyPatch, variables: dict[str, str], wanted: object) -> None:
    for name, value in variables.items():
        environment.setenv(name, value)
    assert Environment().fusion() == wanted


@pytest.mark.parametrize("value", ["1", "1,2", "1,2,3,4", "a,b,c", "-1,1,1", "0,0,1", "nan,1,1", "101,1,1"])
def test_weights_that_make_no_sense_are_refused(environment: pytest.MonkeyPatch, value: str) -> None:
    environment.setenv("MEMWEB_FUSION_WEIGHTS", value)
    with pytest.raises(ImproperlyConfigured, match=r"^MEMWEB_FUSION_WEIGHTS=.* is not three numbers from 0 to 100"):
        Environment().fusion()


def test_an_unknown_way_of_fusion_is_refused(environment: pytest.MonkeyPatch) -> None:
    environment.setenv("MEMWEB_FUSION", "magic")
    with pytest.raises(ImproperlyConfigured, match=r"^MEMWEB_FUSION='magic' is not one of weights, ranks$"):
        Environment().fusion()
