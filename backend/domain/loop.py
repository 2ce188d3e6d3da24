"""The agent loop, the only one in the product: observe, decide, act, let the screen settle, keep.

Pure: it knows the ports and nothing else. It ends an episode only by what the agent did or used up (`EndedBy`); the
machine's failures pass through it as `Lost` errors, and a cancelled run as `Cancelled`.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NoReturn

from backend.domain.episode import EndedBy
from backend.domain.errors import AgentFailed, Cancelled, GuestLost, GuestRefused, Lost
from backend.domain.loop_actions import Work
from backend.domain.ports import Agent, AgentContext, Clock, Desktop, ObservationSpace, Recorder
from backend.domain.run import Budget, RunConfig, Settle
from backend.domain.task import Task
from backend.domain.trajectory import Decision, Observation, StepRecord, StepTiming, Usage

DEFAULT_MAX_STEPS = 30
Thinking = Callable[[Callable[[], Any], float], Any]
"""Calls the agent's code and gives it so many seconds; raises OutOfTime when they are over."""


class OutOfTime(Exception):  # noqa: N818 - told to the loop only, which turns it into an ending.
    """The agent did not answer within the seconds it was given. Not TimeoutError, which agents raise themselves."""


def at_once(call: Callable[[], Any], _seconds: float) -> Any:
    """Calls the agent in this thread, without a limit: for agents that are known to answer."""
    return call()


@dataclass
class Progress:
    """What the loop has done so far; the caller reads it however the loop ends, also after an exception.

    Attributes:
        steps: decisions taken and kept.
        usage: tokens and money used.
        timings: per kept step. `record` is the time that keeping this step took; in the kept step itself it is that
            of the step before, as a step cannot tell how long it will take to keep.
        acted: True from the moment an action is handed to the desktop until a whole step has passed without one. A
            loss in between may be the agent's doing.
        note: why the agent was stopped, in words (its exception, for instance); empty when it stopped by itself.
    """

    steps: int = 0
    usage: Usage = field(default_factory=Usage)
    timings: list[StepTiming] = field(default_factory=list)
    acted: bool = False
    note: str = ""

    @property
    def agent_seconds(self) -> float:
        """What counts against the time budget: thinking, acting and what the page took to answer, never our part."""
        return sum(timing.agent + timing.action + timing.settle for timing in self.timings)

    def seconds(self) -> dict[str, float]:
        """Seconds by phase: `observe`, `agent`, `action`, `settle`, `record`."""
        phases = ("observe", "agent", "action", "settle", "record")
        return {phase: sum(getattr(timing, phase) for timing in self.timings) for phase in phases}


@dataclass(frozen=True)
class Rules:
    """When an episode ends and what is waited for.

    Attributes:
        max_steps: decisions at most.
        settle: waited for after actions.
        wait: waited for by the agent's WAIT.
    """

    max_steps: int
    budget: Budget
    settle: Settle
    wait: Settle

    @classmethod
    def of(cls, config: RunConfig, task: Task) -> "Rules":
        """The rules of a run for one of its tasks."""
        steps = config.budget.max_steps or task.max_steps or DEFAULT_MAX_STEPS
        return cls(max_steps=steps, budget=config.budget, settle=config.settle, wait=config.wait)


@dataclass(frozen=True)
class Parts:
    """Everything the loop works with."""

    agent: Agent
    desktop: Desktop
    space: ObservationSpace
    recorder: Recorder
    clock: Clock
    thinking: Thinking = at_once


def run_episode(parts: Parts, context: AgentContext, rules: Rules, progress: Progress) -> EndedBy:
    """Lets the agent work until it ends or its budget does.

    Every step is kept durably before the next begins. After the last action one more observation is kept, as a step
    without a decision whose result says `{"final": true}`: it shows what the agent left behind, and counts as no step.

    Args:
        parts: the agent, the desktop and where steps go.
        context: what the agent is told.
        rules: budgets and waiting.
        progress: filled as the loop goes; valid also when this raises.

    Returns:
        What stopped the agent.

    Raises:
        Lost: the machine failed (GuestLost, LeaseLost, ...), or the model's API did (ModelApiFailed).
        Cancelled: somebody cancelled the run.
    """
    return _Loop(parts, context, rules, progress).run()


class _Stop(Exception):  # noqa: N818 - it is no error, it carries how the episode ended.
    def __init__(self, ended_by: EndedBy, note: str = "") -> None:
        super().__init__(note)
        self.ended_by = ended_by
        self.note = note


class _Loop:
    """One episode's worth of state; lives as long as `run_episode`."""

    def __init__(self, parts: Parts, context: AgentContext, rules: Rules, progress: Progress) -> None:
        self._p = parts
        self._context = context
        self._rules = rules
        self._progress = progress
        self._note = ""  # told to the agent with its next observation
        self._invalid = 0  # in a row
        self._recorded = 0.0  # seconds that keeping the step before took
        self._seen: Observation | None = None  # an observation that no step has taken yet

    def run(self) -> EndedBy:
        try:
            self._think(lambda: self._p.agent.reset(self._context))
            while True:
                self._step()
        except _Stop as stop:
            self._progress.note = stop.note
            self._keep_end(stop)
            return stop.ended_by
        finally:
            self._close_agent()

    def _step(self) -> None:
        started = self._now()
        if self._p.recorder.cancelled():
            raise Cancelled("the run was cancelled")
        self._check_budget()
        observation = self._observe()
        observed = self._now()
        decision = self._think(lambda: self._p.agent.act(self._shown(observation)))
        if not isinstance(decision, Decision):
            self._stop_for_agent(TypeError(f"act() returned {type(decision).__name__}, not a Decision"))
        decided = self._now()
        late = self._progress.agent_seconds + (decided - observed) > self._rules.budget.max_seconds
        work = Work(self._p.desktop, self._p.clock, self._rules.settle, self._rules.wait)
        if not late:
            work.carry_out(decision, self._mark_acted)
        timing = StepTiming(
            observe=observed - started,
            agent=decided - observed,
            action=work.action_seconds,
            settle=work.settle_seconds,
            record=self._recorded,
            total=self._now() - started + self._recorded,
        )
        record = StepRecord(
            index=self._progress.steps,
            observation=observation,
            decision=decision,
            results=tuple(work.results),
            timing=timing,
        )
        self._keep(record, carried_out=work.carried_out)
        if late:
            raise _Stop(EndedBy.TIME, "the answer came after the time was used up; it was not carried out")
        self._judge(decision, work)

    def _mark_acted(self) -> None:
        self._progress.acted = True

    def _judge(self, decision: Decision, work: Work) -> None:
        """Decides, after a kept step, whether the episode goes on and what the agent is told next."""
        if work.ended_by is not None:
            raise _Stop(work.ended_by)
        wrong = decision.invalid or work.invalid
        if wrong:
            self._invalid += 1
        elif work.carried_out:
            self._invalid = 0
        self._note = f"Your last answer could not be carried out: {wrong}" if wrong else ""
        if self._invalid >= self._rules.budget.max_invalid:
            raise _Stop(EndedBy.INVALID, f"{self._invalid} invalid answers in a row, the last: {wrong}")

    def _check_budget(self) -> None:
        budget, used = self._rules.budget, self._progress.usage
        if self._progress.steps >= self._rules.max_steps:
            raise _Stop(EndedBy.STEPS, f"{self._rules.max_steps} steps were used up")
        if self._progress.agent_seconds >= budget.max_seconds:
            raise _Stop(EndedBy.TIME, f"{budget.max_seconds:g} s were used up")
        if budget.max_tokens is not None and used.input_tokens + used.output_tokens >= budget.max_tokens:
            raise _Stop(EndedBy.TOKENS, f"{budget.max_tokens} tokens were used up")
        if budget.max_usd is not None and used.usd >= budget.max_usd:
            raise _Stop(EndedBy.MONEY, f"{budget.max_usd:g} USD were used up")

    def _observe(self) -> Observation:
        try:
            seen = self._p.space.observe(self._p.desktop, self._progress.steps)
        except GuestRefused as error:
            # A screen that cannot be captured is the machine's failure: the agent asked for nothing.
            raise GuestLost(f"the desktop gave no observation: {error.message}", hint=error.hint) from error
        self._seen = seen.model_copy(update={"note": self._note}) if self._note else seen
        return self._seen

    def _shown(self, observation: Observation) -> Observation:
        """What of it the agent may see: the trajectory keeps a picture also for agents that only read the tree."""
        return observation if self._p.space.shows_frame else observation.model_copy(update={"frame": None})

    def _think(self, call: Callable[[], Any]) -> Any:
        left = max(0.0, self._rules.budget.max_seconds - self._progress.agent_seconds)
        try:
            return self._p.thinking(call, left)
        except (Lost, Cancelled):
            raise
        except OutOfTime as error:
            raise _Stop(EndedBy.TIME, "the agent did not answer within its time") from error
        except Exception as error:  # noqa: BLE001 - whatever the agent's code raises is the agent's failure.
            self._stop_for_agent(error)

    @staticmethod
    def _stop_for_agent(error: Exception) -> NoReturn:
        words = error.message if isinstance(error, AgentFailed) else f"{type(error).__name__}: {error}"
        raise _Stop(EndedBy.AGENT_ERROR, words[:2000]) from error

    def _keep(self, record: StepRecord, *, carried_out: bool) -> None:
        """Hands one step to the recorder. How long that took is known only afterwards, so the next step tells it."""
        before = self._now()
        self._p.recorder.step(record)
        self._recorded = took = self._now() - before
        used, spent = self._progress.usage, record.decision.usage
        self._progress.usage = Usage(
            input_tokens=used.input_tokens + spent.input_tokens,
            output_tokens=used.output_tokens + spent.output_tokens,
            usd=used.usd + spent.usd,
        )
        update = {"record": took, "total": record.timing.total - record.timing.record + took}
        self._progress.timings.append(record.timing.model_copy(update=update))
        self._progress.steps += 1
        self._progress.acted = carried_out
        self._seen = None

    def _keep_end(self, stop: _Stop) -> None:
        """Keeps what the agent left behind, with the reason it was stopped for."""
        self._note = ""
        observation = self._seen or self._observe()
        result: dict[str, Any] = {"final": True, "ended_by": stop.ended_by.value}
        if stop.note:
            result["note"] = stop.note
        record = StepRecord(index=self._progress.steps, observation=observation, decision=Decision(), results=(result,))
        self._p.recorder.step(record)

    def _close_agent(self) -> None:
        try:
            self._p.thinking(self._p.agent.close, 10.0)
        except Exception as error:  # noqa: BLE001 - the episode's end is known; a failing farewell changes nothing.
            self._progress.note = self._progress.note or f"close: {type(error).__name__}: {error}"

    def _now(self) -> float:
        return self._p.clock.now()
