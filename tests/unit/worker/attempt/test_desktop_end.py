"""Attempts whose desktop ends: scored if it was from inside, else lost."""

from typing import Any

import pytest

from backend.domain import registry
from backend.domain.errors import FailureClass, GuestRefused
from backend.domain.machines.desktop_end import FROM_INSIDE, OF_THE_HOST, DesktopEnd, EndCause
from backend.domain.machines.health import DiskRoom
from backend.domain.model.episode import EndedBy
from backend.domain.model.task import Task
from backend.domain.model.trajectory import Action
from backend.domain.ports.desktop import ExecResult
from tests.factories.attempt import AttemptCase
from tests.factories.claims import infeasible_task, note_task
from tests.fakes.desktop import FakeDesktop

SOLUTION = ({"type": "hello"}, {"hotkey": ["ctrl", "s"]})


@pytest.fixture(autouse=True, scope="module")
def _plugins() -> None:
    registry.load()


def dying(cause: EndCause, task: Task | None = None) -> AttemptCase:
    """An attempt whose desktop ends at the agent's first action, with that evidence."""
    attempt = AttemptCase(task or note_task(oracle=SOLUTION), "oracle")

    def furnish(desktop: FakeDesktop) -> None:
        def die(_: Action) -> None:
            attempt.provider.opened[0].cause = cause
            desktop.die("its end")

        desktop.on_perform = die

    attempt.provider.on_open = furnish
    attempt.run()
    return attempt


class TestFromInside:
    @pytest.mark.parametrize("cause", sorted(FROM_INSIDE))
    def test_desktop_ended_by_the_agent_scores_zero(self, cause: EndCause) -> None:
        attempt = dying(cause)
        assert attempt.book.moves == ["running", "evaluating", "scored"]
        assert attempt.book.ended_by is EndedBy.AGENT_ERROR
        assert attempt.score == 0.0
        assert attempt.book.desktop_end == DesktopEnd(cause=cause, text="its end")
        assert attempt.book.evaluation is not None
        assert "from inside" in attempt.book.evaluation.metrics[0].reasons[0]

    def test_ending_the_desktop_does_not_solve_an_infeasible_task(self) -> None:
        infeasible = infeasible_task().model_copy(update={"oracle": SOLUTION})
        attempt = dying(EndCause.SESSION_ENDED, infeasible)
        assert (attempt.book.ended_by, attempt.score) == (EndedBy.AGENT_ERROR, 0.0)

    def test_desktop_end_before_any_action_is_lost(self) -> None:
        attempt = AttemptCase(note_task())

        def furnish(desktop: FakeDesktop) -> None:
            desktop.die("its end")

        attempt.provider.on_open = furnish
        attempt.run()
        assert attempt.book.moves == ["lost"]
        assert attempt.book.desktop_end is None

    def test_desktop_end_during_evidence_collection_scores_zero(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A program that the agent started may wait for the evaluation."""
        attempt = AttemptCase(note_task(oracle=SOLUTION), "oracle")

        def die(*_: Any) -> None:
            attempt.provider.opened[0].cause = EndCause.SESSION_ENDED
            attempt.desktop.die("its end")

        monkeypatch.setattr(attempt.provider, "prepare", die)
        attempt.run()
        assert attempt.book.moves == ["running", "evaluating", "scored"]
        assert attempt.score == 0.0
        assert attempt.book.desktop_end is not None

    def test_getter_stopped_by_a_resource_limit_is_evaluated(self, monkeypatch: pytest.MonkeyPatch) -> None:
        attempt = AttemptCase(note_task(oracle=SOLUTION), "oracle")

        def refuse(_: Any) -> ExecResult:
            raise GuestRefused("no new process", kind="internal")

        def reach_limit(*_: Any) -> None:
            attempt.provider.opened[0].cause = EndCause.PROCESS_LIMIT
            attempt.desktop.commands["cat"] = refuse

        monkeypatch.setattr(attempt.provider, "prepare", reach_limit)
        attempt.run()
        assert attempt.book.moves == ["running", "evaluating", "scored"]
        assert (attempt.book.ended_by, attempt.score) == (EndedBy.AGENT_ERROR, 0.0)

    def test_full_disk_is_evaluated(self, monkeypatch: pytest.MonkeyPatch) -> None:
        attempt = AttemptCase(note_task(oracle=SOLUTION), "oracle")

        def fill(*_: Any) -> None:
            attempt.desktop.ailing = {"disks": (DiskRoom(path="/home/user", free=0, size=2**30),)}

        monkeypatch.setattr(attempt.provider, "prepare", fill)
        attempt.run()
        assert attempt.book.moves == ["running", "evaluating", "scored"]
        assert attempt.score == 1.0
        assert attempt.book.desktop_end == DesktopEnd(cause=EndCause.DISK_LIMIT)


class TestLost:
    def test_unexplained_desktop_end_is_lost(self) -> None:
        attempt = dying(EndCause.UNKNOWN)
        assert attempt.book.moves == ["running", "lost"]
        assert attempt.book.loss == (FailureClass.GUEST, "desktop_gone")
        assert "its end" in attempt.book.message
        assert attempt.book.after_action

    def test_desktop_killed_by_the_host_is_lost(self) -> None:
        attempt = dying(EndCause.SESSION_KILLED)
        assert attempt.book.loss == (FailureClass.GUEST, "desktop_gone")
        assert not attempt.book.after_action

    @pytest.mark.parametrize("cause", sorted(OF_THE_HOST))
    def test_desktop_lost_with_its_host_is_lost(self, cause: EndCause) -> None:
        attempt = dying(cause)
        assert attempt.book.loss == (FailureClass.CLUSTER, "desktop_host_failed")
        assert not attempt.book.after_action
