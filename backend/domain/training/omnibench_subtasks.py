"""`omnibench_subtasks`: OmniBench's trajectories of single subtasks, cut out of those of whole tasks."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from backend.domain.model.trajectory_export import ExportedAttempt, PictureRef
from backend.domain.ports.training import Column
from backend.domain.registry import PluginKind, register
from backend.domain.training._omni_actions import observed_pictures, parallel


@register(PluginKind.TRAINING, "omnibench_subtasks")
class OmnibenchSubtasks:
    """One row per reached part. Benchmark-formats reference, section 1.4.

    A part's steps are those after the step by which another part was reached last, up to the one that reached it.
    Where branches of a graph are worked on in turns, steps for a later part may therefore stand before an earlier one.
    Parts that one step reached together share their steps. A task without parts is one subtask.
    """

    about = "OmniBench's subtask trajectories: observations and actions up to each reached subtask."
    columns: Mapping[str, Column] | None = None

    def refuses(self, recorded: ExportedAttempt) -> str:
        """One that reached nothing shows no subtask."""
        return "" if self._pieces(recorded) else "no subtask was reached"

    def rows(self, recorded: ExportedAttempt) -> Iterator[Mapping[str, Any]]:
        for name, text, first, last in self._pieces(recorded):
            steps = [step for step in recorded.acted if first <= step.index <= last]
            yield {
                "trajectory_id": f"{recorded.id}:{name}",
                "instruction": text,
                **parallel(steps),
                "subtask_id": name,
                "source": dict(recorded.source),
            }

    def pictures(self, recorded: ExportedAttempt) -> Iterable[PictureRef]:
        last = max(piece[-1] for piece in self._pieces(recorded))
        return observed_pictures([step for step in recorded.acted if step.index <= last])

    def _pieces(self, recorded: ExportedAttempt) -> list[tuple[str, str, int, int]]:
        """(name, instruction, first step, last step) of each piece, in order."""
        if not recorded.parts:
            piece = (recorded.task.key.name, recorded.task.instruction, 0, len(recorded.steps))
            return [piece] if recorded.score > 0 else []
        pieces, first, before = [], 0, -1
        for part in sorted((p for p in recorded.parts if p.reached), key=lambda p: -1 if p.step is None else p.step):
            if part.step is None:
                continue
            if part.step > before:
                first, before = before + 1, part.step
            pieces.append((part.name, part.text or recorded.task.instruction, first, part.step))
        return pieces
