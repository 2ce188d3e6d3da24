"""Reports of the loop: to the agent how its code failed, in the record why the agent stopped."""

from typing import Any

import pytest

from backend.domain.errors import GuestRefused
from backend.domain.loop.agent_loop import LoopDependencies, LoopProgress, Rules, run_episode
from backend.domain.model.episode import EndedBy
from backend.domain.model.run import Budget, ScreenSize, Settle
from backend.domain.model.trajectory import Action, ActionType, Decision, SafetyCheck
from backend.domain.observations.screenshot import Screenshot
from backend.domain.ports.agent import AgentContext
from tests.fakes.agent import ScriptedAgent
from tests.fakes.desktop import FakeDesktop
from tests.fakes.recorder import MemoryRecorder

SCREEN = ScreenSize(width=640, height=480)
DONE = Decision(actions=(Action(type=ActionType.DONE),))


def run(
    agent: ScriptedAgent, desktop: FakeDesktop, max_invalid: int = 3
) -> tuple[EndedBy, LoopProgress, MemoryRecorder]:
    """One episode: how it ended, its progress and its record."""
    recorder, progress = MemoryRecorder(), LoopProgress()
    parts = LoopDependencies(agent, desktop, Screenshot(), recorder, desktop.clock)
    context = AgentContext(instruction="do it", screen=SCREEN, max_steps=5, seed=1)
    rules = Rules(max_steps=5, budget=Budget(max_steps=5, max_invalid=max_invalid), settle=Settle(), wait=Settle())
    return run_episode(parts, context, rules, progress), progress, recorder


class TestSafetyCheck:
    def test_ends_the_episode_with_its_words(self) -> None:
        check = SafetyCheck(code="malicious_instructions", message="The page gives instructions.")
        stop = Decision(stop=EndedBy.SAFETY_CHECK, safety_checks=(check,))
        ended_by, progress, recorder = run(ScriptedAgent(answers=(stop,)), FakeDesktop(SCREEN))
        assert (ended_by, progress.note) == (EndedBy.SAFETY_CHECK, check.text)
        result = recorder.steps[-1].results[0]
        assert (result["ended_by"], result["note"]) == ("safety_check", check.text)


class TestCode:
    CODE = Decision(actions=(Action(type=ActionType.PYTHON, text="import time"),) * 2)

    def note(self, monkeypatch: pytest.MonkeyPatch, *results: dict[str, Any]) -> str:
        """The agent's note about code with these results."""
        agent, desktop = ScriptedAgent(answers=(self.CODE, DONE)), FakeDesktop(SCREEN)
        answers = iter(results)
        monkeypatch.setattr(desktop, "perform", lambda _: next(answers))
        run(agent, desktop)
        assert agent.seen[1].results == results
        return agent.seen[1].note

    def test_that_raised_is_reported_with_its_last_lines(self, monkeypatch: pytest.MonkeyPatch) -> None:
        good = {"returncode": 0, "output": "x", "error": ""}
        error = "\n".join([*(f"line {number}" for number in range(50)), "ZeroDivisionError: division by zero"])
        note = self.note(monkeypatch, good, {"returncode": 1, "output": "", "error": error})
        assert note.endswith("ZeroDivisionError: division by zero")
        assert "line 1\n" not in note

    def test_that_wrote_to_standard_error_is_reported(self, monkeypatch: pytest.MonkeyPatch) -> None:
        good = {"returncode": 0, "output": "", "error": ""}
        assert "no key 'x1'" in self.note(monkeypatch, {**good, "error": "deskarena: there is no key 'x1'"}, good)

    def test_that_went_well_is_not_mentioned(self, monkeypatch: pytest.MonkeyPatch) -> None:
        good = {"returncode": 0, "output": "42", "error": ""}
        assert not self.note(monkeypatch, good, good)

    def test_that_takes_too_long_is_reported_and_no_invalid_answer(self, monkeypatch: pytest.MonkeyPatch) -> None:
        def refuse(_: Action) -> None:
            raise GuestRefused("the command did not end within 30 s and was killed", kind="timeout")

        agent, desktop = ScriptedAgent(answers=(*[self.CODE] * 4, DONE)), FakeDesktop(SCREEN)
        monkeypatch.setattr(desktop, "perform", refuse)
        assert run(agent, desktop, max_invalid=2)[0] is EndedBy.DONE
        assert "did not end within 30 s" in agent.seen[1].note
