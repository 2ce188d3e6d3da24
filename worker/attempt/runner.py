"""Runs one attempt from the opened desktop to the stored score."""

import logging
import time
from collections.abc import Sequence
from contextlib import suppress

from backend.domain import registry
from backend.domain.benchmarks import external_assets
from backend.domain.errors import (
    Cancelled,
    ClusterLost,
    DeskarenaError,
    EvaluatorFailed,
    GuestLost,
    GuestRefused,
    LeaseLost,
    MachineLost,
    TaskSetupFailed,
)
from backend.domain.evaluators.evaluate import CallEvidence, check_gathered, collect, not_gathered
from backend.domain.loop.agent_loop import LoopDependencies, LoopProgress, Rules, run_episode
from backend.domain.machines.desktop_end import Blame, DesktopEnd
from backend.domain.model.episode import EndedBy
from backend.domain.model.score import Evaluation, score_by_rule
from backend.domain.model.task import SetupStep
from backend.domain.model.trajectory import Frame
from backend.domain.ports.agent import AgentChannel, AgentContext
from backend.domain.ports.cluster import Distrusts
from backend.domain.ports.desktop import DesktopSpec, OpenDesktop
from backend.domain.registry import PluginKind
from backend.domain.setup import run_steps
from backend.services.scheduling.claims import Claim
from backend.telemetry import tracing
from backend.telemetry.metrics import RESET_SECONDS
from worker.attempt.agent_thread import AgentThread, MonotonicClock
from worker.attempt.attempt_dependencies import AttemptDeps, AttemptLog, LiveStream
from worker.attempt.attempt_failure import NOT_GATHERED, as_lost, desktop_end, failure_of, last_picture, whose
from worker.attempt.checkpoint_watcher import CheckpointWatcher
from worker.attempt.late_agent import LazyAgent
from worker.attempt.observation_space import observation_space
from worker.attempt.task_context import TaskContext, missing_asset
from worker.base.health import answers, check_health, check_room
from worker.base.lease import HeldLease
from worker.base.phases import Phases
from worker.devtools.servers import Servers
from worker.evaluation.evaluator import Child
from worker.evaluation.step_evaluator import StepEvaluator

logger = logging.getLogger(__name__)


def run_attempt(claim: Claim, hold: HeldLease, book: AttemptLog, tools: AttemptDeps) -> bool:
    """Runs the attempt and records how it ended. Never raises: every error is in the record or the log.

    Nothing is written after the lease is lost: another worker may run the episode already.

    Returns:
        False if the provider could not create a healthy desktop: it should pause before the next attempt.
    """
    attempt = _Attempt(claim, hold, book, tools)
    attempt.run()
    return attempt.could_open


class _Attempt:
    """State of one attempt."""

    def __init__(self, claim: Claim, hold: HeldLease, book: AttemptLog, tools: AttemptDeps) -> None:
        self._claim = claim
        self._hold = hold
        self._book = book
        self._tools = tools
        self._task = claim.task
        self._phases = Phases()
        self._progress = LoopProgress()
        self._opened: OpenDesktop | None = None
        self._child: Child | None = None
        self._pump: LiveStream | None = None
        self._servers: Servers | None = None
        self._line: AgentChannel | None = None
        self._looks: StepEvaluator | None = None
        self._watch: CheckpointWatcher | None = None
        self._evidence: Sequence[CallEvidence] | None = None
        self._task_context: TaskContext | None = None
        self._gathering = self._scored = False
        self._spec = DesktopSpec(screen=claim.config.screen, image=claim.image)
        self.could_open = True

    def run(self) -> None:
        try:
            self._work()
        except Exception as error:  # noqa: BLE001 - the one place where an attempt's failures become its record.
            self._end(error)
        finally:
            self._close()

    def _work(self) -> None:
        self._check_files()
        opened = self._open()
        seen_at = time.monotonic()
        context = self._task_context = self._context(opened)
        with self._phases.timed("setup"):
            self._set_up(context)
        self._book.running(self._phases.seconds(), seen_at)
        self._child = self._start_child()
        ended_by = self._loop(opened, self._watching(context))
        self._hold.check()
        self._hold.finishing = True
        self._book.evaluating(ended_by, self._phases.seconds())
        try:
            with self._phases.timed("evaluation"):
                evaluation = self._evaluate(context, ended_by)
        except EvaluatorFailed as error:
            self._end_unjudged(error)
        else:
            self._book.scored(self._task, evaluation, self._evidence or (), self._phases.seconds())

    def _end_unjudged(self, error: EvaluatorFailed) -> None:
        """Stores the evidence, so that only the evaluation is repeated.

        Raises the error if there is no evidence, or if the agent kept the desktop from giving it.
        """
        self._hold.check()
        end = desktop_end(error, self._opened)
        from_inside = not self._scored and whose(end, acted=self._progress.acted) is Blame.AGENT
        if self._evidence is None or from_inside:
            raise error
        self._book.unjudged(self._task, failure_of(error), self._evidence, self._phases.seconds())

    def _context(self, opened: OpenDesktop) -> TaskContext:
        tools = self._tools
        servers = self._servers = Servers(opened, tools.browser)
        return TaskContext(
            opened.desktop,
            self._task,
            tools.web,
            self._claim.assets,
            tools.asset,
            servers,
            tools.secret,
            benchmark=self._claim.benchmark,
            judge=tools.judgement(self._claim, self._hold),
        )

    def _check_files(self) -> None:
        """Checks that every web file that the task and its evaluator need exists, before anything is spent."""
        missing = [url for url in external_assets(self._task) if url not in self._claim.assets]
        if missing:
            raise missing_asset(missing[0], self._claim.benchmark)

    def _open(self) -> OpenDesktop:
        """Opens a healthy, pristine desktop whose screen has been seen once."""
        self._hold.check()
        with self._phases.timed("reset"):
            opened = self._opened = self._open_desktop()
            self._hold.attach(opened)
            self._book.note_desktop(opened.details)
            self._pump = self._tools.pump(self._claim, opened, lambda: self._progress.steps)
            # Screen first: nothing uses egress yet, and its preparation takes an emulated machine time.
            frame = opened.desktop.frame()
            opened.let_out(self._tools.way_out(self._task, self._claim.assets), self._tools.asset)
            path = str(opened.details.get("path", "new"))
            tracing.annotate({"deskarena.reset.path": path})
        RESET_SECONDS.labels(self._claim.provider, path).observe(self._phases.seconds()["reset"])
        with self._phases.timed("health"):
            self._check_health(opened, frame)
        return opened

    def _check_health(self, opened: OpenDesktop, frame: Frame) -> None:
        try:
            check_health(opened.desktop, self._spec.screen, frame, self._tools.health, pause=self._pause)
        except GuestLost:
            # Back off: an unhealthy host would otherwise burn all retries within seconds.
            self.could_open = self._hold.could_open = False
            if isinstance(self._tools.provider, Distrusts):
                self._tools.provider.distrust(self._claim.slot)
            raise

    def _pause(self, seconds: float) -> None:
        self._hold.pause(seconds)
        self._hold.check()

    def _pause_in_line(self, seconds: float) -> None:
        """Waiting for other evaluations does not count as this evaluation's time."""
        with self._phases.timed("turn"):
            self._pause(seconds)

    def _open_desktop(self) -> OpenDesktop:
        try:
            with self._tools.opening(self._claim, self._book):
                return self._tools.provider.open(self._claim.slot, self._spec)
        except Exception:
            self.could_open = self._hold.could_open = False
            raise

    def _set_up(self, context: TaskContext) -> None:
        try:
            run_steps(context, [*self._task.setup, *self._perturbation()])
        except DeskarenaError:
            raise
        except Exception as error:
            logger.exception("set-up step raised: attempt %s", self._task.key)
            raise TaskSetupFailed(
                f"a set-up step raised {type(error).__name__}: {error}", code="step_failed"
            ) from error

    def _perturbation(self) -> Sequence[SetupStep]:
        """The run's perturbation of the windows after set-up; the same for the same episode seed."""
        how = self._claim.config.perturbation
        return [SetupStep(type="perturb_windows", parameters={"how": how, "seed": self._claim.seed})] if how else []

    def _watching(self, context: TaskContext) -> CheckpointWatcher | None:
        """Watcher of the task's parts after each step, if any part needs it."""
        if not self._task.evaluator.stepwise:
            return None
        self._looks = self._tools.judge.looks(self._pause)
        self._watch = CheckpointWatcher(context, self._looks.look)
        return self._watch

    @tracing.span("invoke_agent", {"gen_ai.operation.name": "invoke_agent"})
    def _loop(self, opened: OpenDesktop, watch: CheckpointWatcher | None) -> EndedBy:
        claim, config = self._claim, self._claim.config
        plugin = registry.lookup(PluginKind.AGENT, config.agent)
        rules = Rules.for_task(config, self._task)
        tracing.annotate({"gen_ai.agent.name": config.agent})
        models = self._tools.models(claim, self._hold)
        line = self._line = self._tools.line(claim, self._hold)
        context = AgentContext(
            instruction=self._task.instruction,
            screen=opened.desktop.screen,
            max_steps=rules.max_steps,
            seed=claim.seed,
            task=self._task if plugin.privileged else None,
            trajectory=claim.trajectory,
            action_space=config.action_space or plugin.action_space,
            action_params=config.action_params,
            observation=config.observation or plugin.observation,
            max_seconds=rules.budget.max_seconds,
            platform=opened.desktop.probe().platform,
            models=models,
            line=self._line,
        )
        # If a person is the agent, there is no agent to take over from.
        human = getattr(plugin, "human", False)
        control = None if human else self._tools.control(claim, opened.desktop.screen)
        waits = [timer.wait_seconds for timer in (models, line) if timer is not None]

        def wait_seconds() -> float:
            return sum(waited() for waited in waits)

        thinking = AgentThread(self._hold.check, wait_seconds)
        agent = LazyAgent(plugin, config.params)
        eyes = self._tools.eyes(self._servers) if self._servers is not None else None
        space = observation_space(config, plugin, eyes)
        parts = LoopDependencies(
            agent, opened.desktop, space, self._book, MonotonicClock(), thinking, wait_seconds, control, watch
        )
        try:
            ended_by = run_episode(parts, context, rules, self._progress)
        except GuestLost:
            self._keep_last(opened)
            raise
        finally:
            thinking.close()
            if models is not None:
                models.close()
            self._phases.add(self._progress.spent)
        # An external agent may have lost its time to an outage of the service: then the time limit is not its failure.
        if ended_by is EndedBy.TIME and line is not None and (reason := line.unheard()):
            raise ClusterLost(reason, code="worker_stopping")
        return ended_by

    def _keep_last(self, opened: OpenDesktop) -> None:
        """Stores the machine's own picture after the guest was lost, for example a blue screen."""
        last = last_picture(opened, self._progress.steps) if self._hold.error is None else None
        if last is not None:
            with suppress(DeskarenaError):  # The guest's loss is what counts.
                self._book.step(last)
                self._book.flush()

    def _evaluate(self, context: TaskContext, ended_by: EndedBy, *, full: bool = False) -> Evaluation:
        """The verdict on the end state; `full`: even if programs of the desktop can no longer write."""
        ruled = score_by_rule(self._task.evaluator, ended_by)
        self._prepare_next()
        if ruled is not None:
            return ruled
        if not full:
            check_room(context.desktop)
        evidence = self._evidence = self._collect(context)
        self._hold.check()
        check_gathered(evidence)
        return self._tools.judge.verdict(
            self._task, evidence, self._child, ended_by=ended_by, pause=self._pause_in_line
        )

    def _collect(self, context: TaskContext) -> Sequence[CallEvidence]:
        self._gathering = True
        try:
            return collect(context, self._task, self._watch.evidence if self._watch is not None else None)
        except GuestRefused as error:
            raise EvaluatorFailed(
                f"gathering the evidence failed: {error.message}", code="evidence_not_gathered"
            ) from error
        except DeskarenaError:
            raise
        except Exception as error:
            logger.exception("gathering evidence raised: attempt %s", self._task.key)
            raise EvaluatorFailed(
                f"gathering the evidence raised {type(error).__name__}: {error}", code="evidence_not_gathered"
            ) from error

    def _start_child(self) -> Child | None:
        """Starts the evaluator early, so that it imports code while the agent thinks; failures show at the verdict."""
        if self._task.evaluator.infeasible:
            return None  # A rule decides.
        try:
            return self._tools.judge.start()
        except EvaluatorFailed:
            return None

    def _prepare_next(self) -> None:
        """Prepares the slot's next desktop during the evaluation. A failure is left to the next attempt."""
        try:
            self._tools.provider.prepare(self._claim.slot, self._spec)
        except MachineLost as error:
            logger.warning("next desktop not prepared: %s", error.message)

    def _end(self, error: Exception) -> None:
        """Records how the attempt ended. The lease's reason takes precedence over errors that it caused."""
        cause = self._hold.error or error
        try:
            self._write_end(cause)
        except LeaseLost as lost:
            logger.warning("nothing recorded: attempt %s: %s", self._claim.attempt_id, lost.message)
        except Exception:
            # A reaper will notice the expired lease and mark the attempt as lost.
            logger.exception("end not recorded: attempt %s", self._claim.attempt_id)

    def _write_end(self, cause: Exception) -> None:
        if isinstance(cause, LeaseLost):
            raise cause
        if isinstance(cause, Cancelled):
            self._book.was_cancelled(self._phases.seconds())
            return
        end = desktop_end(cause, self._opened)
        who = whose(end, acted=self._progress.acted)
        if end is not None and who is Blame.AGENT and not self._scored:
            self._scored = True
            try:
                self._score_what_is_left(end)
            except (MachineLost, Cancelled) as error:
                self._write_end(self._hold.error or error)
            return
        failure = failure_of(as_lost(cause, self._opened, end), end)
        self._book.lost(failure, self._phases.seconds(), after_action=who is Blame.UNEXPLAINED)

    def _score_what_is_left(self, end: DesktopEnd) -> None:
        """Scores an attempt whose desktop was ended, or kept from answering, from inside."""
        self._hold.check()
        self._hold.finishing = True
        self._book.ended_from_inside(end)
        self._book.evaluating(EndedBy.AGENT_ERROR, self._phases.seconds())
        try:
            with self._phases.timed("evaluation"):
                evaluation = self._evaluate_remains(end)
        except EvaluatorFailed as error:
            self._end_unjudged(error)
        else:
            self._book.scored(self._task, evaluation, self._evidence or (), self._phases.seconds())

    def _evaluate_remains(self, end: DesktopEnd) -> Evaluation:
        """The verdict on the end state if the desktop still answers, else on what was gathered before: mostly 0."""
        context, ended_by = self._task_context, EndedBy.AGENT_ERROR
        if context is not None and not self._gathering and answers(context.desktop):
            try:
                return self._evaluate(context, ended_by, full=True)
            except (GuestLost, EvaluatorFailed) as error:
                if error.code != NOT_GATHERED and not isinstance(error, GuestLost):
                    raise
                logger.info("a broken desktop cannot be read: attempt %s: %s", self._claim.attempt_id, error.message)
        ruled = score_by_rule(self._task.evaluator, ended_by)
        if ruled is not None:
            return ruled
        reason = f"the desktop ended from inside ({end.cause.value.replace('_', ' ')})"
        before = self._watch.evidence if self._watch is not None else None
        self._evidence = not_gathered(self._task, reason, before)
        return self._tools.judge.verdict(
            self._task, self._evidence, self._child, ended_by=ended_by, pause=self._pause_in_line
        )

    def _close(self) -> None:
        """Releases everything that belongs to the attempt."""
        self._hold.detach()
        for part in (self._line, self._pump, self._servers, self._opened, self._child, self._looks):
            if part is not None:
                try:
                    part.close()
                except Exception:
                    logger.exception("close failed: attempt %s", self._claim.attempt_id)
