"""Views that only read."""

from collections.abc import Callable
from typing import Any

from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_safe

View = Callable[..., Any]


def read_only(view: View) -> View:
    """Let only GET and HEAD reach the view; every other method is answered with 405 and Allow.

    A form's token is not asked for, since nothing can be changed: 403 would hide that the method is wrong.
    """
    return csrf_exempt(require_safe(view))
