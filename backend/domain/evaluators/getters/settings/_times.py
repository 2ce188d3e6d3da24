"""Times of day as WAA's tasks write them."""

NOON = 12


def format_time(hour: int, minute: int) -> str:
    """`07:00 PM`. An hour past noon is counted from 00, as in the expectations of WAA's tasks."""
    return f"{hour % NOON:02d}:{minute:02d} {'AM' if hour < NOON else 'PM'}"
