"""Two labels of tasks by which results are cut together."""

import json
from collections.abc import Iterator
from itertools import product
from typing import NamedTuple, Self

from backend.domain.model.label_filter import TaskLabelValues

MOST_CELLS = 600
"""Products of the numbers of values; a larger table is not read, and costs every roll-up."""


class LabelPair(NamedTuple):
    """Names of two labels, in the order of the alphabet: `level` by `persona` is `persona` by `level`."""

    first: str
    second: str

    @classmethod
    def sorted_pair(cls, first: str, second: str) -> Self:
        return cls(*sorted((first, second)))

    @property
    def dimension(self) -> str:
        """Of its roll-ups. No label's name has an asterisk."""
        return f"{self.first}*{self.second}"

    def cells(self, labels: TaskLabelValues) -> Iterator[str]:
        """Keys of the cells that a task with these labels belongs to; none if it lacks one of them."""
        values = labels.get(self.first, ()), labels.get(self.second, ())
        return (json.dumps(pair, ensure_ascii=False) for pair in product(*values))


def values_of(key: str) -> tuple[str, str]:
    """Values of both labels, from a cell's key."""
    first, second = json.loads(key)
    return first, second
