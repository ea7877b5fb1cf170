"""Settings of the tests: memweb's own, with a data folder that goes away."""

import atexit
import os
import shutil
import tempfile
from pathlib import Path

_folder = tempfile.mkdtemp(prefix="memweb-tests-")
atexit.register(shutil.rmtree, _folder, ignore_errors=True)
os.environ["MEMWEB_DATA_DIR"] = _folder
(Path(_folder) / "static").mkdir()  # WhiteNoise warns when there is none

from memweb.settings import *  # noqa: E402, F403 - settings are extended, as Django's own docs do
from memweb.settings import DATABASES, STORAGES  # noqa: E402

# A file rather than memory: threads, other processes and -wal files behave as they do in use.
DATABASES["default"]["TEST"] = {"NAME": str(Path(_folder) / "test.sqlite3")}
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
ALLOWED_HOSTS = ["localhost", "127.0.0.1", "[::1]", "testserver"]
# Embedding needs a model of 34 MB; tests of it choose one themselves.
EMBEDDER = "off"
EMBEDDING_SERVICE = None
MODEL_DIR = None
CHROMA = None
