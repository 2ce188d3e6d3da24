"""Which pods are kept ready ahead of work: a plan from slots and what waits. Pure.

A pod is made for a slot, with the template of one kind of desktop: an image with a screen. An attempt on another kind
has to make that template first, and for a larger machine another pod. So a warm pod saves an attempt the pod's
scheduling and its machine's boot, and costs its node the memory it requests.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from backend.domain.machines.slots import SlotRef
from backend.domain.ports.desktop import DesktopSpec


def kind_of(spec: DesktopSpec) -> str:
    """What desktops of the same template have in common, in words."""
    return f"{spec.image} {spec.screen.width}x{spec.screen.height}"


@dataclass(frozen=True)
class WarmSlot:
    """A slot as it is now.

    Attributes:
        slot: which one.
        kind: of desktop that its pod, ready or on its way, is for; empty = no pod.
        leased: an attempt holds it.
        usable: new attempts may begin on its node.
    """

    slot: SlotRef
    kind: str = ""
    leased: bool = False
    usable: bool = True


@dataclass(frozen=True)
class WarmPlan:
    """What to do: pods to remove, then pods to make, each with its kind; and idle pods that are kept from their end."""

    remove: tuple[SlotRef, ...] = ()
    prepare: tuple[tuple[SlotRef, str], ...] = ()
    keep: frozenset[SlotRef] = frozenset()


def plan(slots: Iterable[WarmSlot], waiting: Mapping[str, int], ahead: int) -> WarmPlan:
    """What to prepare and what to remove.

    - On a node where nothing new may begin, pods without an attempt are removed.
    - Pods that fit waiting work are kept and counted first, whatever `ahead` says: they are about to be used.
    - Then each node gets pods for what still waits, the kind that most episodes wait for first, one after another
      over the nodes, up to `ahead` idle ones on each.
    - Those of a kind that nothing waits for are removed where another kind needs their slot.
    - A node's idle pods beyond `ahead` that nothing waits for are left to their deadline, the others are kept.
    - Without waiting work pods stay as they are: whoever comes next most likely wants what was wanted before.

    Args:
        slots: of all nodes.
        waiting: episodes that could begin now, by kind of desktop.
        ahead: pods that each node keeps ready without an attempt, at most; 0 = only what is there already is used.
    """
    every = sorted(slots, key=lambda each: each.slot)
    idle = [each for each in every if each.kind and not each.leased]
    remove = [each.slot for each in idle if not each.usable]
    candidates = [each for each in idle if each.usable]
    demand = Counter({kind: number for kind, number in waiting.items() if number > 0})
    fitting = [each for each in candidates if _served(demand, each.kind)]
    served = {each.slot for each in fitting}
    spare = [each for each in candidates if each.slot not in served]
    empty = [each for each in every if each.usable and not each.kind and not each.leased]
    return _filled(every, fitting, spare, empty, demand, ahead, remove)


def _served(demand: Counter[str], kind: str) -> bool:
    """Whether one of those that wait for the kind is served by this pod; it then waits no more."""
    if demand[kind] <= 0:
        return False
    demand[kind] -= 1
    return True


def _filled(  # noqa: PLR0913, PLR0917 - what the slots were sorted into
    every: Sequence[WarmSlot],
    fitting: Sequence[WarmSlot],
    spare: Sequence[WarmSlot],
    empty: Sequence[WarmSlot],
    demand: Counter[str],
    ahead: int,
    remove: list[SlotRef],
) -> WarmPlan:
    nodes = sorted({each.slot.node for each in every if each.usable})
    idle = Counter(each.slot.node for each in fitting)
    spares = {name: [each.slot for each in spare if each.slot.node == name] for name in nodes}
    places = {name: [each.slot for each in empty if each.slot.node == name] for name in nodes}
    prepare: list[tuple[SlotRef, str]] = []
    for name in _turns(nodes, ahead):
        kind = _most(demand)
        if kind is None or idle[name] >= ahead or not (places[name] or spares[name]):
            continue
        if not places[name]:
            # The last is the one that would be leased last.
            places[name].append(spares[name].pop())
            remove.append(places[name][0])
        prepare.append((places[name].pop(0), kind))
        demand[kind] -= 1
        idle[name] += 1
    keep = {each.slot for each in fitting}
    for name in nodes:
        keep.update(spares[name][: max(0, ahead - idle[name])])
    return WarmPlan(tuple(sorted(remove)), tuple(prepare), frozenset(keep))


def _turns(nodes: Sequence[str], ahead: int) -> list[str]:
    """Each node once, then each once more, and so on: what is made ahead is spread."""
    return [name for _ in range(ahead) for name in nodes]


def _most(demand: Counter[str]) -> str | None:
    """The kind that most wait for, by name where several do."""
    left = [(-number, kind) for kind, number in demand.items() if number > 0]
    return min(left)[1] if left else None
