"""Shared parts of the window steps."""

from pydantic import Field

from backend.domain.model.parameters import Parameters

_SAME = (("Google Chrome", "Chromium"), ("google-chrome", "chromium"), ("Google-chrome", "Chromium"))
"""A browser's name on a desktop with only the other one."""


class WindowName(Parameters):
    """Which window: `strict` = the whole title, `by_class` = its class instead of its title."""

    window_name: str = Field(min_length=1)
    strict: bool = False
    by_class: bool = False

    def spellings(self) -> tuple[str, ...]:
        """The name, and the window's name on a desktop with Chromium instead of Chrome."""
        spelling = self.window_name
        for chrome, chromium in _SAME:
            spelling = spelling.replace(chrome, chromium)
        return (self.window_name,) if spelling == self.window_name else (self.window_name, spelling)
