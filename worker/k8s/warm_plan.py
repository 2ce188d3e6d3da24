"""Plan of warm pods: which pods are kept ready, from slots and waiting work. Pure.

A pod is created for a slot, with the template of one kind of desktop: an image with a screen. An attempt of another
kind must create that template first, and for a larger machine another pod. So a warm pod saves an attempt the pod's
scheduling and its machine's boot, and costs its node the requested memory.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from backend.domain.machines.slots import SlotRef
from backend.domain.ports.desktop import DesktopSpec


def kind_of(spec: DesktopSpec) -> str:
    """Key of all desktops that share a template."""
    return f"{spec.image} {spec.screen.width}x{spec.screen.height}"


@dataclass(frozen=True)
class WarmSlot:
    """Current state of a slot.

    Attributes:
        slot: the slot.
        kind: kind of desktop of its pod, ready or starting; empty = no pod.
        leased: whether an attempt holds it.
        usable: whether new attempts may start on its node.
    """

    slot: SlotRef
    kind: str = ""
    leased: bool = False
    usable: bool = True


@dataclass(frozen=True)
class WarmPlan:
    """Pods to remove, then pods to create, each with its kind; and idle pods to keep."""

    remove: tuple[SlotRef, ...] = ()
    prepare: tuple[tuple[SlotRef, str], ...] = ()
    keep: frozenset[SlotRef] = frozenset()


def plan(slots: Iterable[WarmSlot], waiting: Mapping[str, int], ahead: int) -> WarmPlan:
    """Computes which pods to create and to remove.

    - On a node where nothing new may start, idle pods are removed.
    - Pods that match waiting work are kept and counted first, regardless of `ahead`: they are about to be used.
    - Then each node gets pods for remaining waiting work, the kind with most waiting episodes first, round robin over
      the nodes, up to `ahead` idle ones on each.
    - Pods of a kind without waiting work are removed if another kind needs their slot.
    - Idle pods beyond `ahead` without waiting work are left to their deadline, the others are kept.
    - Without waiting work pods stay as they are: the next work is most likely of the same kind.

    Args:
        slots: of all nodes.
        waiting: episodes that could start now, by kind of desktop.
        ahead: maximum idle pods kept ready per node; 0 = only use existing ones.
    """
    every = sorted(slots, key=lambda warm_slot: warm_slot.slot)
    idle = [warm_slot for warm_slot in every if warm_slot.kind and not warm_slot.leased]
    remove = [warm_slot.slot for warm_slot in idle if not warm_slot.usable]
    candidates = [warm_slot for warm_slot in idle if warm_slot.usable]
    demand = Counter({kind: number for kind, number in waiting.items() if number > 0})
    fitting = [candidate for candidate in candidates if _served(demand, candidate.kind)]
    served = {warm_slot.slot for warm_slot in fitting}
    spare = [candidate for candidate in candidates if candidate.slot not in served]
    empty = [warm_slot for warm_slot in every if warm_slot.usable and not warm_slot.kind and not warm_slot.leased]
    return _fill_plan(every, fitting, spare, empty, demand, ahead, remove)


def _served(demand: Counter[str], kind: str) -> bool:
    """Whether this pod serves a waiting episode of the kind, which then no longer waits."""
    if demand[kind] <= 0:
        return False
    demand[kind] -= 1
    return True


def _fill_plan(  # noqa: PLR0913, PLR0917 - what the slots were sorted into
    every: Sequence[WarmSlot],
    fitting: Sequence[WarmSlot],
    spare: Sequence[WarmSlot],
    empty: Sequence[WarmSlot],
    demand: Counter[str],
    ahead: int,
    remove: list[SlotRef],
) -> WarmPlan:
    nodes = sorted({warm_slot.slot.node for warm_slot in every if warm_slot.usable})
    idle = Counter(warm_slot.slot.node for warm_slot in fitting)
    spares = {name: [warm_slot.slot for warm_slot in spare if warm_slot.slot.node == name] for name in nodes}
    places = {name: [warm_slot.slot for warm_slot in empty if warm_slot.slot.node == name] for name in nodes}
    prepare: list[tuple[SlotRef, str]] = []
    for name in _turns(nodes, ahead):
        kind = _most(demand)
        if kind is None or idle[name] >= ahead or not (places[name] or spares[name]):
            continue
        if not places[name]:
            # The last one would be leased last.
            places[name].append(spares[name].pop())
            remove.append(places[name][0])
        prepare.append((places[name].pop(0), kind))
        demand[kind] -= 1
        idle[name] += 1
    keep = {warm_slot.slot for warm_slot in fitting}
    for name in nodes:
        keep.update(spares[name][: max(0, ahead - idle[name])])
    return WarmPlan(tuple(sorted(remove)), tuple(prepare), frozenset(keep))


def _turns(nodes: Sequence[str], ahead: int) -> list[str]:
    """Each node once, then each once more, and so on: prepared pods are spread."""
    return [name for _ in range(ahead) for name in nodes]


def _most(demand: Counter[str]) -> str | None:
    """The kind with most waiting episodes, by name if there are several."""
    left = [(-number, kind) for kind, number in demand.items() if number > 0]
    return min(left)[1] if left else None
