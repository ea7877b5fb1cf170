"""WSGI entry point."""

import os

from django.core.wsgi import get_wsgi_application

os.umask(0o077)  # what memweb writes is its owner's alone
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memweb.settings")
application = get_wsgi_application()
