"""A project's share of the slots: weight, quotas and reserved slots."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import Field

from backend.domain.errors import Invalid
from backend.domain.model.task import Frozen

ALL = "all"
"""In the place of a provider's name: all providers together."""
PROVIDERS = frozenset({"k8s", "local", "qemu"})
"""Providers that every release has: rules may name them before a worker does."""
_DIGITS = 9
"""More than any number has that is allowed; far longer ones Python does not read at all."""
_Number = Annotated[int, Field(ge=0, le=100_000)]
_Provider = Annotated[str, Field(max_length=50, pattern=r"^[a-z0-9_-]+$")]


class ProjectRules(Frozen):
    """How a project shares in the slots.

    Attributes:
        weight: a project of weight 2 is due twice the slots of one of weight 1.
        quota: desktops at once, by provider; `all` = of all providers together; none named = no bound.
        reserved: slots kept free for its interactive episodes, by provider.
    """

    weight: float = Field(default=1.0, ge=0.01, le=1000.0)
    quota: Mapping[_Provider, _Number] = Field(default_factory=dict, max_length=50)
    reserved: Mapping[_Provider, _Number] = Field(default_factory=dict, max_length=50)

    def quota_full(self, provider: str, in_use: Mapping[str, int]) -> tuple[str, int] | None:
        """Which quota leaves no room for one more desktop, as (provider or ALL, its number); None if none does.

        Args:
            provider: of the desktop.
            in_use: the project's desktops by provider.
        """
        return next((quota for quota in self.quotas(provider) if _slots_in_use(quota[0], in_use) >= quota[1]), None)

    def quotas(self, provider: str) -> list[tuple[str, int]]:
        """The quotas that bound a provider, as (provider or ALL, number)."""
        return [(name, self.quota[name]) for name in (provider, ALL) if name in self.quota]


def _slots_in_use(name: str, in_use: Mapping[str, int]) -> int:
    return sum(in_use.values()) if name == ALL else in_use.get(name, 0)


def numbers_text(numbers: Mapping[str, int]) -> str:
    """`all=12 k8s=8`, as people write them."""
    return " ".join(f"{name}={number}" for name, number in sorted(numbers.items()))


def read(text: str, path: str) -> dict[str, int]:
    """Parses the output of `numbers_text`; commas are allowed.

    Raises:
        Invalid: it has another form; `path` names it.
    """
    numbers: dict[str, int] = {}
    for word in text.replace(",", " ").split():
        name, _, number = word.partition("=")
        if not name or not number.isascii() or not number.isdigit() or len(number) > _DIGITS:
            raise Invalid(f"expected words like k8s=8, not {word[:50]!r}", code="invalid_project_limits", path=path)
        if name in numbers:
            raise Invalid(f"{name[:50]} occurs twice", code="invalid_project_limits", path=path)
        numbers[name] = int(number)
    return numbers
