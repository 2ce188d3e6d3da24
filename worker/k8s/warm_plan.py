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
    """What to do: pods to remove, then pods to create, each with its kind; and idle pods to keep."""

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
    """Whether this pod serves a waiting episode of the kind, which then no longer waits."""
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
            # The last one would be leased last.
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
    """Each node once, then each once more, and so on: prepared pods are spread."""
    return [name for _ in range(ahead) for name in nodes]


def _most(demand: Counter[str]) -> str | None:
    """The kind with most waiting episodes, by name if there are several."""
    left = [(-number, kind) for kind, number in demand.items() if number > 0]
    return min(left)[1] if left else None
