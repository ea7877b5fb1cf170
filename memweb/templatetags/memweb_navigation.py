"""Template tags for the way between pages."""

from typing import Any

from django import template
from django.urls import reverse
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()


@register.simple_tag(takes_context=True)
def nav_link(context: dict[str, Any], view: str, label: str) -> SafeString:
    """Return a link of the main navigation, marked as current on its page and on all pages below it."""
    url = reverse(view)
    path = context["request"].path
    is_current = path == url or (url != "/" and path.startswith(url))
    return format_html('<a href="{}"{}>{}</a>', url, SafeString(' aria-current="page"') if is_current else "", label)
