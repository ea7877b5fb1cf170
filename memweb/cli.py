"""The `memweb` command: Django's command line with memweb's settings and one-line error messages."""

import os
import sys
from io import TextIOWrapper
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management import BaseCommand, CommandError, ManagementUtility
from django.core.management.base import SystemCheckError
from django.db.utils import DatabaseError

from memweb.operations.problems import Problem, database_problem


class Commands(ManagementUtility):
    """Django's commands, which would print a failure behind the name of its class; here it is a Problem like others."""

    def fetch_command(self, subcommand: str) -> BaseCommand:
        command = super().fetch_command(subcommand)
        execute = command.execute

        def execute_or_tell(*args: Any, **options: Any) -> str | None:
            try:
                return execute(*args, **options)
            except SystemCheckError:
                raise  # a report of several lines with a form of its own
            except CommandError as error:
                raise Problem(str(error)) from error

        command.execute = execute_or_tell  # type: ignore[method-assign]
        return command


def main(argv: list[str] | None = None) -> None:
    """Run one command; what a person can put right ends in one line on stderr and exit code 1, not in a traceback."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "memweb.settings")
    os.umask(0o077)  # what memweb writes, the database first of all, is its owner's alone
    arguments = argv or sys.argv
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that knows no Chinese still gets the rest
    try:
        Commands(arguments).execute()
    except (ImproperlyConfigured, Problem, DatabaseError) as error:
        if "--traceback" in arguments:
            raise
        problem = str(database_problem(error) if isinstance(error, DatabaseError) else error)
        sys.stderr.write("".join(f"memweb: {line}\n" for line in problem.splitlines()))
        sys.exit(1)
    except BrokenPipeError:
        # The reader, such as head, has seen enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(141)
    except KeyboardInterrupt:
        sys.stderr.write("\nmemweb: stopped\n")
        sys.exit(130)
