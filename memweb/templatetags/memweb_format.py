"""Template tags for what every page shows: icons and moments."""

from datetime import UTC, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo

from django import template
from django.templatetags.static import static
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

register = template.Library()

UNKNOWN_TIME = "time unknown"


@register.simple_tag
@cache
def icon(name: str) -> SafeString:
    """Return an icon of the sprite; it is decoration, the words beside it say the same.

    Kept for the life of the process: a page shows a hundred of them, and the sprite's address does not change.
    """
    return format_html(
        '<svg class="icon" aria-hidden="true" focusable="false"><use href="{}#{}"/></svg>',
        static("vendor/lucide.svg"),
        name,
    )


@register.simple_tag
def moment(when: datetime | None, note: str = "", style: str = "relative") -> SafeString:
    """Return a `<time>` in the viewer's zone: "3 hours ago" with the exact time as its title, or the exact time itself.

    static/js/time.js writes the same texts when the browser's zone turns out to be another.
    """
    if when is None:
        return format_html('<span class="badge is-warning">{}</span>', note or UNKNOWN_TIME)
    exact = exact_time(when)
    mark = format_html(
        '<time datetime="{}" data-style="{}" title="{}">{}</time>',
        when.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        style,
        exact,
        exact if style == "exact" else relative_time(when, timezone.now()),
    )
    return format_html('{} <span class="badge is-warning">{}</span>', mark, note) if note else mark


def exact_time(when: datetime) -> str:
    """Return the local time to the second with the name of its zone: Tue 20 Jan 2026, 10:00:42 (Europe/Berlin)."""
    local = timezone.localtime(when)
    return f"{local:%a} {local.day} {local:%b %Y, %H:%M:%S} ({zone_label()})"


def relative_time(when: datetime, now: datetime) -> str:
    """Return how long ago it was, up to a week; older and future moments are local dates."""
    passed = now - when
    if timedelta(0) <= passed < timedelta(minutes=1):
        return "just now"
    if timedelta(0) <= passed < timedelta(hours=1):
        return f"{passed // timedelta(minutes=1)} min ago"
    if timedelta(0) <= passed < timedelta(days=1):
        return _counted(passed // timedelta(hours=1), "hour")
    if timedelta(0) <= passed < timedelta(days=7):
        return _counted(passed // timedelta(days=1), "day")
    local = timezone.localtime(when)
    return f"{local.day} {local:%b %Y}"


@register.simple_tag
def zone_label() -> str:
    """Return the name of the zone that times are shown in."""
    zone = timezone.get_current_timezone()
    return zone.key if isinstance(zone, ZoneInfo) else str(zone)


def _counted(number: int, unit: str) -> str:
    return f"{number} {unit}{'' if number == 1 else 's'} ago"
