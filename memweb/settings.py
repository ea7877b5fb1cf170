"""Settings of memweb. Everything comes from the environment (see memweb/environment.py) and has a safe default."""

import os
from hashlib import sha256
from pathlib import Path

from csp.constants import NONCE, NONE, SELF

from memweb.environment import Environment

BASE_DIR = Path(__file__).resolve().parent.parent
_environment = Environment()

DATA_DIR = _environment.data_dir()
SECRET_KEY = _environment.secret_key(DATA_DIR)
DEBUG = _environment.flag("MEMWEB_DEBUG", False)
HOST_NAMES = _environment.host_names("MEMWEB_ALLOWED_HOSTS")
ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]", *HOST_NAMES]
HTTPS = _environment.flag("MEMWEB_HTTPS", False)

HOST = _environment.text("MEMWEB_HOST", "127.0.0.1")
PORT = _environment.number("MEMWEB_PORT", 8000, 1, 65535)
SERVER_THREADS = _environment.number("MEMWEB_THREADS", 8, 1, 64)
CLAUDE_MEM_PATH = Path(_environment.text("MEMWEB_CLAUDE_MEM", "") or "~/.claude-mem").expanduser()

EMBEDDER = _environment.embedder()
EMBEDDING_SERVICE = _environment.embedding_service(EMBEDDER)
MODEL_DIR = _environment.folder("MEMWEB_MODEL_DIR")
FUSION, FUSION_WEIGHTS = _environment.fusion()
CHROMA = _environment.chroma_server()

INSTALLED_APPS = [
    "memweb",
    "memweb.memories",
    "memweb.sources",
    "memweb.accounts",
    "search",
    "django.contrib.admin",
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "whitenoise.runserver_nostatic",
    "django.contrib.staticfiles",
    "django_htmx",
    "csp",
]

MIDDLEWARE = [
    "memweb.middleware.BodilessHeadMiddleware",
    # The next three put their headers on every answer, also on static files and on the 400 of the host check.
    "django.middleware.security.SecurityMiddleware",
    "csp.middleware.CSPMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "memweb.middleware.AllowedHostMiddleware",
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "memweb.middleware.PrivateCacheMiddleware",
    "memweb.middleware.DatabaseFileMiddleware",
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "memweb.middleware.SignInRequiredMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "django_htmx.middleware.HtmxMiddleware",
    "memweb.middleware.ViewerTimeZoneMiddleware",
]

ROOT_URLCONF = "memweb.urls"
WSGI_APPLICATION = "memweb.wsgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
                "csp.context_processors.nonce",
            ],
        },
    },
]

DATABASES = {"default": _environment.database(DATA_DIR)}
DATABASES["default"]["OPTIONS"] = {
    # DEFERRED transactions that turn into writers fail at once with "database is locked"; IMMEDIATE ones wait.
    "transaction_mode": "IMMEDIATE",
    "timeout": 10,
    "init_command": (
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA temp_store = MEMORY;"
        "PRAGMA cache_size = -16000; PRAGMA journal_size_limit = 67108864"
    ),
}
DATABASES["default"]["CONN_MAX_AGE"] = None
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

LANGUAGE_CODE = "en-us"
TIME_ZONE = _environment.time_zone("MEMWEB_TIME_ZONE", "UTC")
USE_I18N = False
USE_TZ = True

STATIC_URL = "/static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    "staticfiles": {
        "BACKEND": (
            "django.contrib.staticfiles.storage.StaticFilesStorage"
            if DEBUG
            else "whitenoise.storage.CompressedManifestStaticFilesStorage"
        )
    },
}

LOGIN_URL = "/accounts/login/"
LOGIN_REDIRECT_URL = "/"
LOGOUT_REDIRECT_URL = LOGIN_URL
SESSION_ENGINE = "memweb.accounts.sessions"
# Browsers do not tell the ports of a host apart: with one name, signing in to one memweb would sign out of another.
_INSTANCE = sha256(os.fsencode(DATA_DIR.resolve())).hexdigest()[:8]
SESSION_COOKIE_NAME = f"memweb_session_{_INSTANCE}"
SESSION_COOKIE_SECURE = HTTPS
SESSION_COOKIE_AGE = 60 * 60 * 24 * 90
CSRF_COOKIE_NAME = f"memweb_csrf_{_INSTANCE}"
CSRF_COOKIE_HTTPONLY = True
CSRF_COOKIE_SECURE = HTTPS
SECURE_HSTS_SECONDS = 60 * 60 * 24 * 30 if HTTPS else 0
X_FRAME_OPTIONS = "DENY"
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CROSS_ORIGIN_OPENER_POLICY = "same-origin"
MESSAGE_STORAGE = "django.contrib.messages.storage.session.SessionStorage"

CONTENT_SECURITY_POLICY = {
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF, NONCE],
        "style-src": [SELF, NONCE],
        "img-src": [SELF, "data:"],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "frame-ancestors": [NONE],
        "base-uri": [NONE],
        "manifest-src": [SELF],
    }
}

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"plain": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "handlers": {"console": {"class": "logging.StreamHandler", "formatter": "plain"}},
    "root": {"handlers": ["console"], "level": "WARNING"},
    "loggers": {
        "memweb": {"level": "INFO"},
        "search": {"level": "INFO"},
        "django.request": {"level": "ERROR"},  # a page that does not exist is no news
        "waitress.queue": {"level": "ERROR"},  # nor is a request that waits for a free thread
    },
}
