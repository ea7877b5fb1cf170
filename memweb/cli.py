"""The `memweb` command: Django's command line with memweb's settings and one-line error messages."""

import os
import sys

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line


def main(argv: list[str] | None = None) -> None:
    """Run one command; a wrong setting ends in one line on stderr and exit code 1, never a traceback."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memweb.settings")
    try:
        execute_from_command_line(argv or sys.argv)
    except ImproperlyConfigured as error:
        sys.stderr.write(f"memweb: {error}\n")
        sys.exit(1)
    except KeyboardInterrupt:
        sys.stderr.write("\nmemweb: stopped\n")
        sys.exit(130)
