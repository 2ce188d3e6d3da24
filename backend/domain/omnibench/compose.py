"""Composes graphs of a pool's subtasks, bottom-up: what one makes, another needs.

Source: OmniBench, section 3; protocols reference, section 6. A graph begins with one subtask and grows by others of the
same intent until its complexities are as required. Its edges follow from its nodes: there is one exactly where a node
makes what another needs. So two graphs are the same if their nodes are, and a set of nodes is remembered for each.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from itertools import cycle
from typing import NamedTuple

from pydantic import Field

from backend.domain.errors import Invalid
from backend.domain.model.task import Difficulty, Frozen, check_order
from backend.domain.omnibench.categories import category_of
from backend.domain.omnibench.complexity import BOUNDS, CAPABILITIES, Complexity, complexity
from backend.domain.omnibench.graph import GraphNode, TaskGraph
from backend.domain.omnibench.subtask import Subtask, SubtaskResource, Values
from backend.domain.omnibench.task_file import Pool

MOST_NODES = 12
MOST_TRIES = 400
"""Consecutive failures after which a pool counts as exhausted."""
RELAXATION_TRIES = 150
"""Failures without one success after which one more complexity may be hard."""
_STEPS = 40  # additions that one graph may try
FORCES = {"hierarchy": ("dependency", "instruction"), "branch": ("instruction",)}
"""Complexities that no graph can hold down: a depth of 5 takes 5 nodes and 4 edges, a width of 5 takes 5 nodes."""
RELAXATION_ORDER = ("instruction", "dependency", "branch", "hierarchy", "knowledge")
"""Complexities in the order in which they may be hard where a pool has no other graph."""
Bounds = tuple[int, int]
Things = tuple[SubtaskResource, ...]


class GraphSpec(Frozen):
    """Requirements on a composed graph.

    Attributes:
        levels: complexities that must be of that level.
        not_hard: complexities that must not be hard, as far as the pool has such graphs: the first may be hard
            first. The others are free.
        capability: letters of the capability that it tests; empty = none in particular.
    """

    levels: Mapping[str, Difficulty] = Field(default_factory=dict)
    not_hard: tuple[str, ...] = ()
    capability: str = ""

    def bounds(self, relaxation: int = 0) -> dict[str, Bounds]:
        """Least and largest count of each constrained dimension, without the first `relaxation` of `not_hard`."""
        down = {dimension: (0, BOUNDS[dimension][1]) for dimension in self.not_hard[relaxation:]}
        return down | {dimension: _bounds(dimension, level) for dimension, level in self.levels.items()}


class GraphComposition(Frozen):
    """One graph with its subtasks' common intent, and its requirements."""

    graph: TaskGraph
    intent: str
    request: GraphSpec
    complexity: Complexity

    def tested(self) -> tuple[str, ...]:
        """The capability that it was composed for; without one, all for which it qualifies."""
        return (self.request.capability,) if self.request.capability else self.complexity.capabilities()


def for_capability(letters: str) -> GraphSpec:
    """A graph that tests one capability: hard in its dimensions, and in no other where a graph allows that.

    Raises Invalid for unknown letters.
    """
    if letters not in CAPABILITIES:
        raise Invalid(
            f"there is no capability {letters!r}", code="unknown_capability", hint=f"Known: {', '.join(CAPABILITIES)}."
        )
    hard = CAPABILITIES[letters]
    forced = {forced for dimension in hard for forced in FORCES.get(dimension, ())}
    return GraphSpec(
        levels=dict.fromkeys(sorted(hard), Difficulty.HARD),
        not_hard=tuple(dimension for dimension in RELAXATION_ORDER if dimension not in hard | forced),
        capability=letters,
    )


def compose(
    pool: Pool, requests: Sequence[GraphSpec], *, seed: int, most_nodes: int = MOST_NODES
) -> Iterator[GraphComposition]:
    """Yields distinct graphs endlessly, cycling through the requirements.

    Args:
        pool: the subtasks.
        requests: at least one.
        seed: the same seed gives the same graphs of the same pool.
        most_nodes: nodes of a graph.

    Raises:
        Invalid: the pool has no (more) graphs for a requirement.
    """
    composer = _Composer(pool, random.Random(seed), most_nodes)  # noqa: S311 - graphs are no secret, and must come again.
    relaxation = [0] * len(requests)
    for number, (index, request) in enumerate(cycle(enumerate(requests))):
        composition = composer.further(request, relaxation[index])
        while composition is None and relaxation[index] < len(request.not_hard):
            relaxation[index] += 1
            composition = composer.further(request, relaxation[index])
        if composition is None:
            raise Invalid(
                f"the pool gives no further graph for {request.capability or 'any'}; {number} graphs were composed",
                code="pool_exhausted",
                hint="Add subtasks or parameters to the pool, or ask for fewer tasks.",
            )
        yield composition


class _Composer:
    """Composes graphs of a pool, none of them twice."""

    def __init__(self, pool: Pool, rng: random.Random, most_nodes: int) -> None:
        self._groups = [_Group(intent, parts) for intent, parts in _by_intent(pool).items()]
        self._keys: set[frozenset[int]] = set()
        self._exist: set[tuple[str, int]] = set()
        self._rng = rng
        self._most_nodes = most_nodes

    def further(self, request: GraphSpec, relaxation: int) -> GraphComposition | None:
        """Another graph; None after `MOST_TRIES` failures, or `RELAXATION_TRIES` if there may be no such graph."""
        bounds, key = request.bounds(relaxation), (request.capability, relaxation)
        certain = relaxation == len(request.not_hard) or key in self._exist
        for _ in range(MOST_TRIES if certain else RELAXATION_TRIES):
            group = self._rng.choice(self._groups)
            places = group.grow(bounds, self._rng, self._most_nodes)
            nodes = frozenset(group.parts[index].number for index in places)
            if places and nodes not in self._keys:
                self._keys.add(nodes)
                self._exist.add(key)
                return group.composed(places, request)
        return None


class _Choice(NamedTuple):
    """A subtask with one of its sets of parameters; `number` identifies it within the pool."""

    number: int
    subtask: Subtask
    values: Values


class _Group:
    """Combinable choices of one intent; `serves` relations are bit sets."""

    def __init__(self, intent: str, parts: Sequence[_Choice]) -> None:
        self.intent = intent
        self.parts = parts
        makes = [part.subtask.makes(part.values) for part in parts]
        needs = [part.subtask.needs(part.values) for part in parts]
        places = range(len(parts))
        self._into = [bits & ~(1 << index) for index, bits in enumerate(_serving(makes, needs))]
        self._out = [_bits(q for q in places if self._into[q] >> p & 1) for p in places]
        self._clash = [bits | 1 << index for index, bits in enumerate(_serving(makes, makes))]
        self._apps = [part.subtask.application for part in parts]
        self._categories = [category_of(app) or app for app in self._apps]
        self._systems = {
            system: _bits(p for p in places if parts[p].subtask.os == system) for system in ("linux", "windows")
        }

    def grow(self, bounds: Mapping[str, Bounds], rng: random.Random, most_nodes: int) -> list[int]:
        """Indices of a graph's nodes within bounds; empty if none was found."""
        first = rng.randrange(len(self.parts))
        selected, counted = [first], self._complexity([first])
        allowed = self._systems[self.parts[first].subtask.os] & ~self._clash[first]
        spare = rng.randrange(3 if bounds else most_nodes)
        for _ in range(_STEPS):
            lacking = [dimension for dimension, (least, _) in bounds.items() if getattr(counted, dimension) < least]
            if not lacking and (spare == 0 or len(selected) >= most_nodes):
                break
            candidates = self._candidates(rng.choice(lacking) if lacking else "instruction", selected, allowed)
            if not candidates or len(selected) >= most_nodes:
                break
            added = _one_of(candidates, rng)
            tried = self._checked_complexity([*selected, added], bounds)
            if tried is None:
                allowed &= ~(1 << added)
                continue
            selected, counted = [*selected, added], tried
            allowed &= ~self._clash[added]
            spare -= not lacking
        fits = all(least <= getattr(counted, name) <= most for name, (least, most) in bounds.items())
        return selected if fits else []

    def composed(self, selected: Sequence[int], request: GraphSpec) -> GraphComposition:
        """The graph of these places, its nodes in an order of the graph."""
        before = self._before(selected)
        names: dict[int, str] = {}
        for index in check_order({str(p): [str(q) for q in earlier] for p, earlier in before.items()}):
            subtask = self.parts[int(index)].subtask.id
            again = sum(self.parts[known].subtask.id == subtask for known in names)
            names[int(index)] = f"{subtask}.{again + 1}" if again else subtask
        nodes = tuple(
            GraphNode(name=name, subtask=self.parts[index].subtask.id, values=self.parts[index].values)
            for index, name in names.items()
        )
        after = {name: tuple(names[q] for q in before[index]) for index, name in names.items()}
        graph = TaskGraph(nodes=nodes, after=after)
        return GraphComposition(graph=graph, intent=self.intent, request=request, complexity=self._complexity(selected))

    def _candidates(self, dimension: str, selected: Sequence[int], allowed: int) -> int:
        """Bits of the choices that may bring more of a dimension; of all that are allowed, where none does."""
        bits = allowed
        if dimension == "knowledge":
            used = {self._categories[index] for index in selected}
            bits &= _bits(index for index, category in enumerate(self._categories) if category not in used)
        elif dimension in {"dependency", "hierarchy"}:
            bits &= _union(self._out[index] | self._into[index] for index in selected)
        elif dimension == "branch":
            ends = [index for index in selected if not self._out[index] & _bits(selected)]
            bits &= ~_union(self._out[index] for index in ends)
        return bits or allowed

    def _checked_complexity(self, selected: Sequence[int], bounds: Mapping[str, Bounds]) -> Complexity | None:
        """The complexity; None for a cycle or if it exceeds its bounds, which additions cannot correct."""
        try:
            counted = self._complexity(selected)
        except ValueError:
            return None
        return counted if all(getattr(counted, name) <= most for name, (_, most) in bounds.items()) else None

    def _complexity(self, selected: Sequence[int]) -> Complexity:
        before = {str(index): [str(edge) for edge in earlier] for index, earlier in self._before(selected).items()}
        return complexity(before, {str(index): self._apps[index] for index in selected})

    def _before(self, selected: Sequence[int]) -> dict[int, list[int]]:
        return {index: [edge for edge in selected if self._into[index] >> edge & 1] for index in selected}


def _serving(makes: Sequence[Things], all_needs: Sequence[Things]) -> list[int]:
    """For each index, a bit set of the subtasks that produce something it needs."""
    makers: dict[str, list[tuple[int, SubtaskResource]]] = {}
    for index, products in enumerate(makes):
        for resource in products:
            makers.setdefault(resource.name, []).append((index, resource))
    return [
        _union(1 << index for need in needs for index, resource in makers.get(need.name, ()) if resource.serves(need))
        for needs in all_needs
    ]


def _by_intent(pool: Pool) -> dict[str, list[_Choice]]:
    """The choices of each intent; a subtask without one fits every intent, and if none has any there is one group."""
    choices = [
        _Choice(number, subtask, values)
        for number, (subtask, values) in enumerate((s, v) for s in pool.values() for v in s.available_parameters)
    ]
    intents = sorted({intent for subtask in pool.values() for intent in subtask.intents}) or [""]
    groups = {
        intent: [choice for choice in choices if not choice.subtask.intents or intent in choice.subtask.intents]
        for intent in intents
    }
    if not choices:
        raise Invalid("the pool has no subtask", code="pool_exhausted")
    return groups


def _bounds(dimension: str, level: Difficulty) -> Bounds:
    easy, medium = BOUNDS[dimension]
    return {Difficulty.EASY: (0, easy), Difficulty.MEDIUM: (easy + 1, medium)}.get(level, (medium + 1, 10**6))


def _bits(places: Iterator[int] | Sequence[int]) -> int:
    return sum(1 << index for index in places)


def _union(bits: Iterator[int]) -> int:
    union = 0
    for bit in bits:
        union |= bit
    return union


def _one_of(bits: int, rng: random.Random) -> int:
    """The place of one of the bits that are set."""
    for _ in range(rng.randrange(bits.bit_count())):
        bits &= bits - 1
    return (bits & -bits).bit_length() - 1
