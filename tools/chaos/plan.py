"""Plan of faults, drawn from a seed: the same for the same seed, number and kinds."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from random import Random

from tools.chaos.faults import KINDS, Fault

TOGETHER = (1, 1, 1, 1, 2, 2, 3)
"""How many faults come at once, to draw from."""


@dataclass(frozen=True)
class PlannedFault:
    """A fault with its number (from 1) and the seconds after the first of its volley at which it comes."""

    number: int
    kind: str
    fault: Fault
    after: float


@dataclass(frozen=True)
class Volley:
    """Faults that overlap. `wait`: seconds between the stack being well and the first of them."""

    faults: tuple[PlannedFault, ...]
    wait: float

    @property
    def numbers(self) -> str:
        """`12`, or `12-14`."""
        first, last = self.faults[0].number, self.faults[-1].number
        return str(first) if first == last else f"{first}-{last}"


def plan(seed: int, number: int, kinds: Sequence[str]) -> list[Volley]:
    """The whole campaign. Kinds are dealt like cards, deck after deck.

    Each is in a deck once, those that remove a worker twice. No other fault coincides with the first one dealt, so that
    the time until its episodes are taken up is measured without other faults.

    Args:
        seed: of the draw.
        number: of faults.
        kinds: names to draw from, in a fixed order.
    """
    random = Random(f"chaos {seed}")
    dealt, volleys, next_number = _deal(random, kinds), [], 1
    while next_number <= number:
        name = next(dealt)
        size = min(1 if KINDS[name].loses else random.choice(TOGETHER), number - next_number + 1)
        faults = []
        for position in range(size):
            name = next(dealt) if position else name
            after = random.uniform(0.0, 4.0) if position else 0.0
            faults.append(PlannedFault(next_number + position, name, KINDS[name].draw(random), after))
        volleys.append(Volley(tuple(faults), random.uniform(0.5, 4.0)))
        next_number += size
    return volleys


def _deal(random: Random, kinds: Sequence[str]) -> Iterator[str]:
    while True:
        deck = [*kinds, *(name for name in kinds if KINDS[name].loses)]
        random.shuffle(deck)
        yield from deck


def only(volleys: Sequence[Volley], numbers: Collection[int]) -> list[Volley]:
    """The volleys that hold one of these faults."""
    return [volley for volley in volleys if any(fault.number in numbers for fault in volley.faults)]


def read_numbers(words: str) -> set[int]:
    """`3,17-19` as numbers. Raises ValueError."""
    numbers: set[int] = set()
    for part in filter(None, words.split(",")):
        first, _, last = part.partition("-")
        numbers.update(range(int(first), int(last or first) + 1))
    return numbers
