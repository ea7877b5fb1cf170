"""`memweb up`: everything from an empty folder to a page in the browser."""

from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand

from memweb.accounts.links import sign_in_address
from memweb.accounts.owner import ensure_owner
from memweb.operations.first_import import FirstSource, background_import, first_source, is_imported
from memweb.operations.instance import hold_data_dir
from memweb.operations.preparation import check_disk, prepare_database, prepare_static_files
from memweb.operations.problems import Problem
from memweb.operations.server import WILDCARDS, bracketed, open_socket, public_address, serve, stop_on_signals
from memweb.operations.vector_process import vector_process


class Command(BaseCommand):
    help = "Start memweb: database, keyword index, first import, web server, sign-in link. Ctrl-C stops it."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--host", default=settings.HOST, help="address to listen on (default: %(default)s)")
        parser.add_argument(
            "--port",
            type=int,
            default=settings.PORT,
            help="port to listen on, 0 for any free one (default: %(default)s)",
        )
        parser.add_argument("--no-import", action="store_true", help="import nothing at the start")

    def handle(self, *args: Any, **options: Any) -> None:
        host, port = options["host"].strip("[]"), options["port"]
        if not 0 <= port <= 65535:
            raise Problem(f"--port {port} is not a port; use a number from 1 to 65535, or 0 for any free one")
        stop_on_signals()
        folder = settings.DATA_DIR
        check_disk(folder)
        with hold_data_dir(folder) as announce, open_socket(host, port) as listening:
            self.say("Data folder", folder)
            self.say("Database", self.prepare())
            if prepare_static_files():
                self.say("Static files", "collected")
            site = public_address(host, listening.getsockname()[1], settings.HOST_NAMES, settings.HTTPS)
            if host not in WILDCARDS:
                # Its owner chose this address, and a foreign page cannot make a browser send it as Host.
                settings.ALLOWED_HOSTS.append(bracketed(host))
            from memweb.wsgi import application  # only now: it lists the static files when it is made

            announce(site)
            source = None if options["no_import"] else first_source()
            is_new = source is not None and not is_imported(source)
            self.say("First import", "left out (--no-import)" if options["no_import"] else describe(source, is_new))
            self.say("Sign in", sign_in_address(ensure_owner(), site))
            self.say("", "The link works once, for one hour; `memweb signin` prints another. Ctrl-C stops memweb.")
            with background_import(source if is_new else None), vector_process():
                serve(application, listening, settings.SERVER_THREADS, settings.HTTPS)
        self.stdout.write("memweb stopped")

    def say(self, subject: str, text: object) -> None:
        self.stdout.write(f"{subject:13} {text}")
        self.stdout.flush()

    def prepare(self) -> str:
        """Bring the database up to date and return in words what that took."""
        migrations, repaired = prepare_database()
        done = f"{migrations} migrations applied" if migrations else "up to date"
        return f"{done}; keyword index rebuilt for {', '.join(repaired)}" if repaired else done


def describe(source: FirstSource | None, is_new: bool) -> str:
    """Return in words what is imported, or why nothing is."""
    if source is None:
        return f"nothing found at {settings.CLAUDE_MEM_PATH}; `memweb import PATH` brings memories in"
    return f"{source.title}{', in the background; pages answer meanwhile' if is_new else ': nothing new'}"
