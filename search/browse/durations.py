"""Stretches of time in words."""

from datetime import timedelta

# What passes within a run without being worth a word.
GAP = timedelta(minutes=30)


def duration_label(length: timedelta) -> str:
    """Return a length in its two largest units: 45 s, 12 min, 2 h 5 min, 3 days 4 h."""
    seconds = max(0, round(length.total_seconds()))
    days, rest = divmod(seconds, 86_400)
    hours, rest = divmod(rest, 3_600)
    minutes, seconds = divmod(rest, 60)
    parts = [f"{days} day{'' if days == 1 else 's'}" if days else "", f"{hours} h" if hours else ""]
    parts += [f"{minutes} min" if minutes and days == 0 else "", f"{seconds} s" if not days + hours + minutes else ""]
    return " ".join(filter(None, parts))


def gap_label(length: timedelta) -> str:
    """Return in words how long nothing happened; empty when that is not worth a word."""
    return f"{duration_label(length)} later" if length >= GAP else ""
