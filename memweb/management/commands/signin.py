"""`memweb signin`: a new way in when the link that `memweb up` printed is used or lost."""

import json
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.contrib.auth.models import User
from django.core.management.base import BaseCommand

from memweb.accounts.links import sign_in_address
from memweb.accounts.owner import ensure_owner
from memweb.operations.instance import running_instance
from memweb.operations.problems import Problem
from memweb.operations.server import public_address


class Command(BaseCommand):
    help = "Print a link that signs a browser in. It works once, for one hour."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--user", help="name of the user to sign in; default: the owner")
        parser.add_argument("--json", action="store_true", help="print one JSON object instead of text")

    def handle(self, *args: Any, **options: Any) -> None:
        user = find_user(options["user"]) if options["user"] else ensure_owner()
        running = running_instance(settings.DATA_DIR)
        configured = public_address(settings.HOST, settings.PORT, settings.HOST_NAMES, settings.HTTPS)
        link = sign_in_address(user, (running and running.address) or configured)
        if options["json"]:
            self.stdout.write(json.dumps({"user": user.username, "link": link, "running": running is not None}))
            return
        self.stdout.write(link)
        if running is None:
            self.stderr.write("memweb is not running; start it with `memweb up`, then open the link")


def find_user(name: str) -> User:
    """Return the active user of that name; raise Problem when there is none."""
    user = User.objects.filter(username=name, is_active=True).first()
    if user is None:
        raise Problem(f"there is no active user {name!r}; `memweb createsuperuser` makes one")
    return user
