"""Times of day as WAA's tasks write them."""

NOON = 12


def format_time(hour: int, minute: int) -> str:
    """Formats a time as `07:00 PM`. Hours past noon count from 00, as WAA's expectations do."""
    return f"{hour % NOON:02d}:{minute:02d} {'AM' if hour < NOON else 'PM'}"
