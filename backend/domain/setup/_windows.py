"""What the steps about windows share."""

from backend.domain.parameters import Parameters


class WindowName(Parameters):
    """Which window: `strict` = the whole title, `by_class` = its class instead of its title."""

    window_name: str
    strict: bool = False
    by_class: bool = False
