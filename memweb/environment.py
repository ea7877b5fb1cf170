"""Reads memweb's settings from the environment: typed, with a clear message for every value that makes no sense."""

import os
import secrets
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

import environ
from django.core.exceptions import ImproperlyConfigured
from platformdirs import user_data_path

KNOWN_VARIABLES = {
    "MEMWEB_DATA_DIR": "folder that holds the database, the secret key, static files and backups",
    "MEMWEB_SECRET_KEY": "secret key; made and kept in the data folder when not set",
    "MEMWEB_DEBUG": "1 shows tracebacks in the browser; for development only",
    "MEMWEB_ALLOWED_HOSTS": "comma list of further host names that may be used to reach memweb",
    "MEMWEB_HTTPS": "1 when a proxy in front of memweb serves it over TLS",
    "MEMWEB_HOST": "address that `memweb up` listens on",
    "MEMWEB_PORT": "port that `memweb up` listens on",
    "MEMWEB_THREADS": "threads of the web server",
    "MEMWEB_TIME_ZONE": "time zone for people whose browser has not told theirs",
    "MEMWEB_CLAUDE_MEM": "claude-mem data that `memweb up` imports first; default ~/.claude-mem",
    "MEMWEB_EMBEDDER": "what turns texts into vectors for search by meaning; off for none",
    "MEMWEB_MODEL_DIR": "folder with the files of the embedding model, provided by hand",
    "MEMWEB_EMBEDDER_URL": "address of an embedding service, for MEMWEB_EMBEDDER=http",
    "MEMWEB_EMBEDDER_MODEL": "model that the embedding service is asked for",
    "MEMWEB_EMBEDDER_DIMENSION": "numbers in each vector of the embedding service",
    "MEMWEB_EMBEDDER_KEY": "key of the embedding service",
    "MEMWEB_FUSION": "how scores of words and meaning become one: weights or ranks",
    "MEMWEB_FUSION_WEIGHTS": "what words, meaning and word-by-word comparison count, as three numbers",
    "CHROMA_URL": "address of a Chroma server that keeps the vector index instead of the data folder",
    "CHROMA_TENANT": "tenant on that server",
    "CHROMA_DATABASE": "database of that tenant",
    "CHROMA_TOKEN": "token that the server wants",
}

EMBEDDERS = ("bge-small", "multilingual", "off", "http")
FUSIONS = ("weights", "ranks")
EMBEDDER_LIBRARIES = ("fastembed", "sentence-transformers")


@dataclass(frozen=True, slots=True)
class EmbeddingService:
    """An HTTP endpoint that embeds texts the way OpenAI's does."""

    url: str
    model: str
    dimension: int
    key: str = field(repr=False)


@dataclass(frozen=True, slots=True)
class ChromaServer:
    """A Chroma server, and where on it the vector index lies."""

    url: str
    tenant: str
    database: str
    token: str = field(repr=False)

    @property
    def is_secure(self) -> bool:
        return urlsplit(self.url).scheme == "https"

    @property
    def host(self) -> str:
        host = urlsplit(self.url).hostname or ""
        return f"[{host}]" if ":" in host else host

    @property
    def port(self) -> int:
        return urlsplit(self.url).port or (443 if self.is_secure else 80)


class Environment:
    """Typed access to environment variables; every failure names the variable, its value and what is accepted."""

    def __init__(self) -> None:
        self._env = environ.Env()
        for name in os.environ:
            if name.startswith("MEMWEB_") and not name.startswith("MEMWEB_TEST_") and name not in KNOWN_VARIABLES:
                near = get_close_matches(name, KNOWN_VARIABLES, n=1)
                hint = f"; did you mean {near[0]}?" if near else ""
                raise ImproperlyConfigured(f"{name} is not a setting of memweb{hint}")

    def text(self, name: str, default: str) -> str:
        return self._env.str(name, default=default).strip()

    def names(self, name: str, default: list[str]) -> list[str]:
        return [part.strip() for part in self._env.list(name, default=default) if part.strip()]

    def host_names(self, name: str) -> list[str]:
        """Return bare host names, as Django's ALLOWED_HOSTS takes them; a URL or a port is refused."""
        hosts = self.names(name, [])
        for host in hosts:
            if "/" in host or (":" in host and not (host.startswith("[") and host.endswith("]"))):
                raise ImproperlyConfigured(
                    f"{name}: {host!r} is not a host name; leave out scheme, port and path: memweb.example"
                )
        return hosts

    def time_zone(self, name: str, default: str) -> str:
        """Return the name of a time zone that exists."""
        value = self.text(name, default)
        try:
            ZoneInfo(value)
        except (ValueError, OSError, LookupError) as error:
            raise ImproperlyConfigured(
                f"{name}={value!r} is not a time zone; use a name such as Europe/Berlin"
            ) from error
        return value

    def flag(self, name: str, default: bool) -> bool:
        value = self.text(name, "1" if default else "0").lower()
        if value not in {"1", "0", "true", "false", "yes", "no", "on", "off"}:
            raise ImproperlyConfigured(f"{name}={value!r} is not a yes or no; use 1 or 0")
        return value in {"1", "true", "yes", "on"}

    def number(self, name: str, default: int, low: int, high: int) -> int:
        value = self.text(name, str(default))
        if not value.isascii() or not value.isdigit() or not low <= int(value) <= high:
            raise ImproperlyConfigured(f"{name}={value!r} is not a whole number from {low} to {high}")
        return int(value)

    def embedder(self) -> str:
        """Return what embeds texts: one of EMBEDDERS, or a library's name and its model's, joined by a colon."""
        value = self.text("MEMWEB_EMBEDDER", "") or "bge-small"
        library, _, model = value.partition(":")
        if value not in EMBEDDERS and not (library in EMBEDDER_LIBRARIES and model):
            choices = [*EMBEDDERS, *(f"{library}:MODEL" for library in EMBEDDER_LIBRARIES)]
            raise ImproperlyConfigured(f"MEMWEB_EMBEDDER={value!r} is not one of {', '.join(choices)}")
        return value

    def fusion(self) -> tuple[str, tuple[float, float, float]]:
        """Return how scores are put together, and the weights of words, cosine and token states (0: not asked)."""
        way = self.text("MEMWEB_FUSION", "") or "weights"
        if way not in FUSIONS:
            raise ImproperlyConfigured(f"MEMWEB_FUSION={way!r} is not one of {', '.join(FUSIONS)}")
        value = self.text("MEMWEB_FUSION_WEIGHTS", "") or "0.4,0.2,0.4"
        try:
            words, cosine, late = (float(part) for part in value.split(","))
        except ValueError:
            words = cosine = late = -1.0
        if not all(0 <= weight <= 100 for weight in (words, cosine, late)) or words + cosine <= 0:
            raise ImproperlyConfigured(
                f"MEMWEB_FUSION_WEIGHTS={value!r} is not three numbers from 0 to 100 such as 0.4,0.2,0.4,"
                " of which the first two are not both 0"
            )
        return way, (words, cosine, late)

    def embedding_service(self, embedder: str) -> EmbeddingService | None:
        """Return the embedding service when it is chosen; a setting of it that nobody would read is refused."""
        names = [f"MEMWEB_EMBEDDER_{part}" for part in ("URL", "MODEL", "DIMENSION", "KEY")]
        given = {name: self.text(name, "") for name in names}
        if embedder != "http":
            for name in names:
                if given[name]:
                    raise ImproperlyConfigured(f"{name} is of no use without MEMWEB_EMBEDDER=http")
            return None
        for name in names[:3]:
            if not given[name]:
                raise ImproperlyConfigured(f"MEMWEB_EMBEDDER=http needs {name}")
        url, model, dimension, key = names
        return EmbeddingService(
            self._web_address(url, "http://127.0.0.1:8080/v1"),
            given[model],
            self.number(dimension, 0, 1, 4096),
            given[key],
        )

    def chroma_server(self) -> ChromaServer | None:
        """Return the Chroma server to use; None for an index in the data folder.

        The other three variables are those of Chroma's own programs too, so they mean nothing alone.
        """
        if not self.text("CHROMA_URL", ""):
            return None
        url = self._web_address("CHROMA_URL", "http://127.0.0.1:8000")
        parts = urlsplit(url)
        address = f"{parts.scheme}://{parts.netloc}"
        if further := url[len(address) :]:
            raise ImproperlyConfigured(
                f"CHROMA_URL ends in {further}, where Chroma has only an address; use CHROMA_URL={address}"
            )
        tenant = self.text("CHROMA_TENANT", "") or "default_tenant"
        database = self.text("CHROMA_DATABASE", "") or "default_database"
        token = self.text("CHROMA_TOKEN", "")
        if not token.isascii() or not token.isprintable():
            raise ImproperlyConfigured("CHROMA_TOKEN has characters that no token has")
        return ChromaServer(url, tenant, database, token)

    def _web_address(self, name: str, example: str) -> str:
        value = self.text(name, "")
        try:
            parts = urlsplit(value)
            is_address = parts.scheme in {"http", "https"} and bool(parts.hostname) and parts.port != 0
        except ValueError:
            is_address = False
        if not is_address or "@" in parts.netloc:
            # A name and password in the address would end up in messages; the key has a variable of its own.
            raise ImproperlyConfigured(f"{name} is not an address such as {example}, without a password")
        return value.rstrip("/")

    def folder(self, name: str) -> Path | None:
        """Return the folder, which need not exist yet; None when the variable is not set."""
        value = self.text(name, "")
        if not value:
            return None
        folder = Path(value).expanduser().absolute()
        if folder.exists() and not folder.is_dir():
            raise ImproperlyConfigured(f"{name}={value!r} is not a folder")
        return folder

    def data_dir(self) -> Path:
        """Return the data folder, made when missing (owner only)."""
        folder = Path(self.text("MEMWEB_DATA_DIR", "") or user_data_path("memweb")).expanduser().absolute()
        try:
            folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise ImproperlyConfigured(
                f"the data folder {folder} cannot be made ({error.strerror}); set MEMWEB_DATA_DIR to another folder"
            ) from error
        if not os.access(folder, os.W_OK | os.X_OK):
            raise ImproperlyConfigured(
                f"the data folder {folder} cannot be written; make it writable or set MEMWEB_DATA_DIR to another folder"
            )
        return folder

    def secret_key(self, data_dir: Path) -> str:
        """Return the secret key: from the environment, else from a file that only its owner can read."""
        given = self.text("MEMWEB_SECRET_KEY", "")
        if given:
            if len(given) < 32:
                raise ImproperlyConfigured(
                    "MEMWEB_SECRET_KEY is shorter than 32 characters; leave it out to have one made"
                )
            return given
        path = data_dir / "secret_key"
        try:
            if not path.exists():
                _write_once(path, secrets.token_urlsafe(64))
            key = path.read_text(encoding="ascii", errors="replace").strip()
        except OSError as error:
            raise ImproperlyConfigured(
                f"the secret key {path} cannot be read or made ({error.strerror}); correct its owner and mode (0600)"
            ) from error
        if len(key) < 32:
            raise ImproperlyConfigured(f"{path} holds no usable key; remove it and a new one is made")
        return key

    def database(self, data_dir: Path) -> dict[str, Any]:
        """Return Django's settings for the database; without DATABASE_URL an SQLite file in the data folder."""
        url = self.text("DATABASE_URL", "")
        if not url:
            return {"ENGINE": "django.db.backends.sqlite3", "NAME": str(data_dir / "memweb.sqlite3")}
        database: dict[str, Any] = self._env.db_url_config(url)
        if database.get("ENGINE") != "django.db.backends.sqlite3":
            raise ImproperlyConfigured(
                f"DATABASE_URL={url.split(':', 1)[0]!r}: this version keeps memories in SQLite only; use sqlite:////path/to/file"
            )
        return database


def _write_once(path: Path, text: str) -> None:
    """Make the file with all of its text at once, readable by its owner only; leave one that another process made."""
    draft = path.with_name(f"{path.name}.{os.getpid()}")
    descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(text)
        with suppress(FileExistsError):
            os.link(draft, path)
    finally:
        draft.unlink()
