"""The product's only agent loop: observe, decide, act, record while the screen settles.

Pure: it depends on ports only. It ends an episode only because of the agent's actions or budget (`EndedBy`).
    Infrastructure failures propagate as `MachineLost`, a cancelled run as `Cancelled`.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NoReturn

from backend.domain.errors import AgentFailed, Cancelled, ClusterLost, GuestLost, GuestRefused, MachineLost, Unavailable
from backend.domain.loop.action_execution import ActionExecution, settle
from backend.domain.model.code_results import code_report, code_timed_out, to_record
from backend.domain.model.episode import EndedBy
from backend.domain.model.run import Budget, RunConfig, Settle
from backend.domain.model.task import Task
from backend.domain.model.trajectory import Decision, Observation, StepRecord, StepTiming, Usage
from backend.domain.ports.agent import Agent, AgentContext, ObservationSpace, TakeoverControl
from backend.domain.ports.desktop import Desktop
from backend.domain.ports.storage import CheckpointWatch, Clock, Recorder

DEFAULT_MAX_STEPS = 30
PHASES = ("observe", "agent", "wait", "action", "settle", "record", "person", "check")
CONTROL_SECONDS = 0.4
"""Seconds per wait for a person in control; in between, cancelled runs are noticed."""
Thinking = Callable[[Callable[[], Any], float], Any]
"""Calls the agent's code with a time limit in seconds; raises AgentTimeout when it is exceeded."""


class AgentTimeout(Exception):  # noqa: N818 - told to the loop only, which turns it into an ending.
    """The agent did not answer within its time limit. Distinct from TimeoutError, which agents may raise."""


def call_directly(call: Callable[[], Any], _seconds: float) -> Any:
    """Calls the agent in this thread without a time limit, for agents that always answer."""
    return call()


@dataclass
class LoopProgress:
    """Progress of the loop; valid however the loop ends, also after an exception.

    Attributes:
        steps: decisions taken.
        by_person: decisions by a person in control, which do not count against the agent's budget.
        usage: tokens and costs.
        timings: timings of the recorded steps.
        spent: seconds by phase, including the current step.
        acted: an action was sent to the desktop. From then on the agent may have caused its end.
        note: why the agent was stopped (its exception, for instance); empty if it stopped by itself.
    """

    steps: int = 0
    by_person: int = 0
    usage: Usage = field(default_factory=Usage)
    timings: list[StepTiming] = field(default_factory=list)
    spent: dict[str, float] = field(default_factory=lambda: dict.fromkeys(PHASES, 0.0))
    acted: bool = False
    note: str = ""

    @property
    def agent_seconds(self) -> float:
        """Seconds that count against the time budget: thinking, acting and the screen's response, not our overhead."""
        return self.spent["agent"] + self.spent["action"] + self.spent["settle"]


@dataclass(frozen=True)
class Rules:
    """Budgets and waiting times of an episode.

    Attributes:
        max_steps: maximum number of decisions.
        settle: waiting time after actions.
        wait: waiting time of the agent's WAIT.
    """

    max_steps: int
    budget: Budget
    settle: Settle
    wait: Settle

    @classmethod
    def for_task(cls, config: RunConfig, task: Task) -> "Rules":
        """The rules of a run for one of its tasks."""
        steps = config.budget.steps_of(task.labels.level, task.max_steps) or DEFAULT_MAX_STEPS
        return cls(max_steps=steps, budget=config.budget, settle=config.settle, wait=config.wait)


@dataclass(frozen=True)
class LoopDependencies:
    """Everything that the loop uses.

    Attributes:
        held: seconds spent waiting for a model's API (rate limits, failures) or for a broken channel to an external
            agent; not the agent's time.
        control: lets a person take over; None if that is not possible.
        watch: evaluates checkpoints after each step; None without any.
    """

    agent: Agent
    desktop: Desktop
    space: ObservationSpace
    recorder: Recorder
    clock: Clock
    thinking: Thinking = call_directly
    delay_seconds: Callable[[], float] = float
    control: TakeoverControl | None = None
    watch: CheckpointWatch | None = None


def run_episode(parts: LoopDependencies, context: AgentContext, rules: Rules, progress: LoopProgress) -> EndedBy:
    """Runs the agent until it ends or its budget does.

    Every step is stored durably before the next observation. After the last action one more observation is stored, as a
    step without a decision whose result is `{"final": true}`: it shows the end state and does not count as a step.

    Args:
        parts: the agent, the desktop and the recorder.
        context: the agent's context.
        rules: budgets and waiting times.
        progress: filled as the loop goes; valid also when this raises.

    Returns:
        How the episode ended.

    Raises:
        MachineLost: the machine failed (GuestLost, LeaseLost, ...), or the model's API did (ModelApiFailed).
        Cancelled: the run was cancelled.
    """
    return _Loop(parts, context, rules, progress).run()


class _Stop(Exception):  # noqa: N818 - it is no error, it carries how the episode ended.
    def __init__(self, ended_by: EndedBy, note: str = "") -> None:
        super().__init__(note)
        self.ended_by = ended_by
        self.note = note


class _Loop:
    """One episode's worth of state; lives as long as `run_episode`."""

    def __init__(self, parts: LoopDependencies, context: AgentContext, rules: Rules, progress: LoopProgress) -> None:
        self._p = parts
        self._context = context
        self._rules = rules
        self._progress = progress
        self._note = ""  # sent to the agent with its next observation
        self._results: tuple[Mapping[str, Any], ...] = ()  # likewise
        self._invalid = 0  # in a row
        self._moving = ""  # the phase that settling is charged to, if the screen may still be changing
        self._observation: Observation | None = None  # an observation that no step has used yet
        self._open = False  # the current step is not recorded yet
        self._unchecked = False  # the last step acted and was not evaluated yet
        self._step_start = self._now()
        self._step_spent: dict[str, float] = {}

    def run(self) -> EndedBy:
        try:
            if self._p.watch is not None:
                self._p.watch.begin()
            self._begin()
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
        self._begin()
        if self._p.recorder.cancelled():
            raise Cancelled("the run was cancelled")
        self._check_progress()
        self._check_budget()
        observation, decision = self._next()
        helped = decision.by == "person"
        late = not helped and self._progress.agent_seconds > self._rules.budget.max_seconds
        self._progress.by_person += helped
        work = ActionExecution(self._p.desktop, self._p.clock, self._rules.wait)
        if not late:
            work.carry_out(decision, self._mark_acted)
            self._spend("person" if helped else "action", work.action_seconds)
            self._spend("person" if helped else "settle", work.wait_seconds)
            self._moving = ("person" if helped else "settle") if work.moving else ""
        self._p.space.acted(work.done)
        self._keep(observation, decision, work.results)
        self._results = tuple(work.results)
        self._unchecked = True
        if late:
            raise _Stop(EndedBy.TIME, "the answer came after the time was used up; it was not carried out")
        self._judge(decision, work)

    def _begin(self) -> None:
        """Lets the screen settle while the previous step is being recorded, then waits for the recorder."""
        if self._open:
            return
        self._open, self._step_start, self._step_spent = True, self._now(), {}
        if self._moving:
            phase, self._moving = self._moving, ""
            self._spend(phase, settle(self._p.desktop, self._p.clock, self._rules.settle))
        before = self._now()
        self._p.recorder.flush()
        self._spend("record", self._now() - before)

    def _next(self) -> tuple[Observation, Decision]:
        """The next observation, and the decision of the person in control or the agent."""
        observation = self._observe()
        control = self._p.control
        if control is None or not control.is_active():
            return observation, self._decide(observation)
        decision = self._of_person(control, observation)
        if decision is not None:
            return observation, decision
        observation = self._observe()  # The screen may have changed until the hand-back.
        return observation, self._decide(observation)

    def _of_person(self, control: TakeoverControl, observation: Observation) -> Decision | None:
        """Waits for the person while they keep control; the agent's time is paused. None: handed back."""
        before = self._now()
        try:
            while control.is_active():
                decision = control.decide(observation, CONTROL_SECONDS)
                if decision is not None:
                    return decision
                if self._p.recorder.cancelled():
                    raise Cancelled("the run was cancelled")
            return None
        finally:
            self._spend("person", self._now() - before)

    def _decide(self, observation: Observation) -> Decision:
        visible = observation
        if not self._p.space.shows_frame:
            # The trajectory stores a picture even for agents that only read the tree.
            visible = observation.model_copy(update={"frame": None})
        decision = self._think(lambda: self._p.agent.act(visible))
        if not isinstance(decision, Decision):
            self._stop_for_agent(TypeError(f"act() returned {type(decision).__name__}, not a Decision"))
        return decision

    def _mark_acted(self) -> None:
        self._progress.acted = True

    def _judge(self, decision: Decision, work: ActionExecution) -> None:
        """Decides after a step whether the episode continues, and the message for the agent."""
        if work.ended_by is not None:
            raise _Stop(work.ended_by)
        if decision.stop is not None:
            checks = "; ".join(check.text for check in decision.safety_checks)
            raise _Stop(decision.stop, checks or "the agent ended the episode")
        wrong = decision.invalid or work.invalid
        if wrong:
            # Code that takes too long is a valid answer, which may be what the task needs to wait for.
            self._invalid += 0 if code_timed_out(work.results) else 1
        elif work.carried_out:
            self._invalid = 0
        self._note = f"Your last answer could not be carried out: {wrong}" if wrong else code_report(work.results)
        if self._invalid >= self._rules.budget.max_invalid:
            raise _Stop(EndedBy.INVALID, f"{self._invalid} invalid answers in a row, the last: {wrong}")

    def _check_progress(self) -> None:
        """Evaluates the previous step's progress; too long without progress ends the episode."""
        if self._p.watch is None or not self._unchecked:
            return
        self._unchecked = False
        before = self._now()
        try:
            going = self._p.watch.after(self._progress.steps - 1)
        finally:
            self._spend("check", self._now() - before)
        if not going:
            raise _Stop(EndedBy.STALLED, "no part of the task was newly reached for too many steps")

    def _check_budget(self) -> None:
        budget, used = self._rules.budget, self._progress.usage
        if self._progress.steps - self._progress.by_person >= self._rules.max_steps:
            raise _Stop(EndedBy.STEPS, f"{self._rules.max_steps} steps were used up")
        if self._progress.agent_seconds >= budget.max_seconds:
            raise _Stop(EndedBy.TIME, f"{budget.max_seconds:g} s were used up")
        if budget.max_tokens is not None and used.input_tokens + used.output_tokens >= budget.max_tokens:
            raise _Stop(EndedBy.TOKENS, f"{budget.max_tokens} tokens were used up")
        if budget.max_usd is not None and used.usd >= budget.max_usd:
            raise _Stop(EndedBy.MONEY, f"{budget.max_usd:g} USD were used up")

    def _observe(self) -> Observation:
        before = self._now()
        try:
            observation = self._p.space.observe(self._p.desktop, self._progress.steps)
        except GuestRefused as error:
            # A failed capture is the machine's failure: the agent did not request anything.
            raise GuestLost(
                f"the desktop gave no observation: {error.message}", code="observation_failed", hint=error.hint
            ) from error
        self._spend("observe", self._now() - before)
        note = " ".join(filter(None, (self._note, observation.note)))
        self._observation = observation.model_copy(update={"note": note, "results": self._results})
        return self._observation

    def _think(self, call: Callable[[], Any]) -> Any:
        remaining = max(0.0, self._rules.budget.max_seconds - self._progress.agent_seconds)
        before, delay = self._now(), self._p.delay_seconds()
        try:
            return self._p.thinking(call, remaining)
        except (MachineLost, Cancelled):
            raise
        except AgentTimeout as error:
            raise _Stop(EndedBy.TIME, "the agent did not answer within its time") from error
        except Unavailable as error:
            # Agents do not raise it themselves: a server that the episode depends on is unavailable.
            raise ClusterLost(error.message, code="service_unavailable", hint=error.hint) from error
        except Exception as error:  # noqa: BLE001 - whatever the agent's code raises is the agent's failure.
            self._stop_for_agent(error)
        finally:
            waited = min(self._p.delay_seconds() - delay, self._now() - before)
            self._spend("wait", waited)
            self._spend("agent", self._now() - before - waited)

    @staticmethod
    def _stop_for_agent(error: Exception) -> NoReturn:
        words = error.message if isinstance(error, AgentFailed) else f"{type(error).__name__}: {error}"
        raise _Stop(EndedBy.AGENT_ERROR, words[:2000]) from error

    def _keep(self, observation: Observation, decision: Decision, results: Sequence[Mapping[str, Any]]) -> None:
        """Passes one step to the recorder, which stores it while the screen settles."""
        record = self._record(observation, decision, results)
        self._p.recorder.step(record)
        self._progress.usage += decision.usage
        self._progress.timings.append(record.timing)
        self._progress.steps += 1
        self._observation, self._open = None, False

    def _keep_end(self, stop: _Stop) -> None:
        """Records the end state, with the reason for stopping."""
        self._note = ""
        self._begin()
        with suppress(_Stop):  # The episode is already ending for another reason.
            self._check_progress()
        observation = self._observation or self._observe()
        result: dict[str, Any] = {"final": True, "ended_by": stop.ended_by.value}
        if stop.note:
            result["note"] = stop.note
        self._p.recorder.step(self._record(observation, Decision(), [result]))
        before = self._now()
        self._p.recorder.flush()
        self._spend("record", self._now() - before)

    def _record(self, observation: Observation, decision: Decision, results: Sequence[Mapping[str, Any]]) -> StepRecord:
        timing = StepTiming(**self._step_spent, total=self._now() - self._step_start)
        return StepRecord(
            index=self._progress.steps,
            observation=observation,
            decision=decision,
            results=tuple(to_record(results)),
            timing=timing,
        )

    def _close_agent(self) -> None:
        try:
            self._p.thinking(self._p.agent.close, 10.0)
        except Exception as error:  # noqa: BLE001 - the episode's end is known; a failing farewell changes nothing.
            self._progress.note = self._progress.note or f"close: {type(error).__name__}: {error}"

    def _spend(self, phase: str, seconds: float) -> None:
        self._step_spent[phase] = self._step_spent.get(phase, 0.0) + seconds
        self._progress.spent[phase] += seconds

    def _now(self) -> float:
        return self._p.clock.now()
