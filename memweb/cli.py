"""The `memweb` command: Django's command line with memweb's settings and one-line error messages."""

import os
import sys
from io import TextIOWrapper

from django.core.exceptions import ImproperlyConfigured
from django.core.management import execute_from_command_line
from django.db.utils import DatabaseError

from memweb.operations.problems import Problem, database_problem


def main(argv: list[str] | None = None) -> None:
    """Run one command; what a person can put right ends in one line on stderr and exit code 1, not in a traceback."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memweb.settings")
    os.umask(0o077)  # what memweb writes, the database first of all, is its owner's alone
    arguments = argv or sys.argv
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that knows no Chinese still gets the rest
    try:
        execute_from_command_line(arguments)
    except (ImproperlyConfigured, Problem, DatabaseError) as error:
        if "--traceback" in arguments:
            raise
        sys.stderr.write(f"memweb: {database_problem(error) if isinstance(error, DatabaseError) else error}\n")
        sys.exit(1)
    except BrokenPipeError:
        # The reader, such as head, has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except KeyboardInterrupt:
        sys.stderr.write("\nmemweb: stopped\n")
        sys.exit(130)
