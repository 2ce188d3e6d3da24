"""Asks agents at recorded steps: the same agents and observation spaces as on desktops, with the recorded history."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import DemonstrationStepRecord
from backend.domain import registry
from backend.domain.demonstrations.history import reply_of
from backend.domain.demonstrations.recorded_desktop import recorded_desktop
from backend.domain.errors import AgentFailed, DeskarenaError, GuestRefused
from backend.domain.loop.agent_loop import DEFAULT_MAX_STEPS
from backend.domain.model.demonstration import Reference
from backend.domain.model.run import ScreenSize
from backend.domain.model.trajectory import Decision, Frame, Observation
from backend.domain.ports.agent import (
    Agent,
    AgentContext,
    CoordinateFrame,
    FollowsRecords,
    ObservationSpace,
    PerceptionTools,
)
from backend.domain.ports.model import Models
from backend.domain.ports.storage import ArtifactStore
from backend.domain.ports.web import Browser
from backend.domain.registry import PluginKind
from backend.services.studies import offline_answers
from backend.services.studies.offline_answers import OfflineJob
from worker.attempt.observation_space import observation_space
from worker.background.request_worker import RequestQueueWorker
from worker.base.database import Database
from worker.models.model_pool import Interruption
from worker.perception.element_detectors import Detectors
from worker.perception.ocr import read

FINAL = frozenset({"guest_refused", "unknown_plugin", "invalid"})
"""Failures that every try would have: the step lacks what the agent's observation space shows."""


class RecordedPerception:
    """PerceptionTools port without a desktop: reads and detects in the recorded pictures; there is no browser."""

    def __init__(self, detectors: Detectors) -> None:
        """Args: detectors: the worker's."""
        self._detectors = detectors

    def browser(self, port: int = 9222) -> Browser:  # noqa: ARG002 - there is none at any port
        raise GuestRefused("the step was recorded without a browser", kind="not_recorded")

    def read(self, picture: Frame, language: str = "eng") -> Sequence[Mapping[str, Any]] | None:
        return read(picture, language)

    def detect(self, endpoint: str, picture: Frame) -> Sequence[Mapping[str, Any]]:
        return self._detectors.detect(endpoint, picture)


class _AgentError(Exception):
    """The agent's own code failed."""


@contextmanager
def _of_agent() -> Iterator[None]:
    """Raises _AgentError for errors of the agent's code; errors of models and of the service are raised unchanged."""
    try:
        yield
    except AgentFailed as error:
        raise _AgentError(error.message) from error
    except DeskarenaError:
        raise
    except Exception as error:
        raise _AgentError(f"{type(error).__name__}: {error}") from error


class OfflineEvaluator(RequestQueueWorker):
    """Processes the steps of offline studies, one by one.

    Args:
        database: the database.
        store: artifact store with the pictures.
        models: opens the model clients of one step, which wait with this object's `pause` and `check`.
        eyes: perception tools that need no desktop.
        number: distinguishes the threads of a worker.
        every: polling interval in seconds.
    """

    def __init__(  # noqa: PLR0913 - what a step is asked with
        self,
        database: Database,
        store: ArtifactStore,
        models: Callable[[Interruption], Models],
        eyes: PerceptionTools | None = None,
        *,
        number: int = 1,
        every: float,
    ) -> None:
        super().__init__(database, f"offline-evaluator-{number}", every=every)
        self._store, self._models, self._eyes = store, models, eyes

    def _work(self, session: Session, ids: list[UUID]) -> bool:
        job = offline_answers.claim_answer(session, ids.append)
        if job is None:
            return False
        models = self._models(self)
        started = time.monotonic()
        try:
            decision = self._decision(job, models)
        finally:
            models.close()
        waited = decision.usage.wait_seconds
        offline_answers.finish(session, job, decision, max(0.0, time.monotonic() - started - waited))
        return True

    def _fail(self, session: Session, request_id: UUID, message: str, code: str) -> None:
        offline_answers.not_answered(session, request_id, message, is_final=code in FINAL)

    def _put_off(self, session: Session, request_id: UUID, message: str) -> bool:
        offline_answers.postpone(session, request_id, message)
        return True

    def _decision(self, job: OfflineJob, models: Models) -> Decision:
        """The agent's answer. An error of the agent itself is a wrong answer; any other is raised."""
        registry.load()
        plugin: type[Agent] = registry.lookup(PluginKind.AGENT, job.config.agent)
        space = observation_space(job.config, plugin, self._eyes)
        agent = plugin(plugin.Params.model_validate(dict(job.config.params)))
        try:
            with _of_agent():
                agent.reset(self._context(job, plugin, models))
            for step in job.steps[:-1]:
                observation = self._observation(job, space, step)
                recorded = self._recorded_decision(job, plugin, step, observation)
                space.acted(recorded.actions)
                if isinstance(agent, FollowsRecords):
                    with _of_agent():
                        agent.follow(observation, recorded)
            observation = self._observation(job, space, job.steps[-1])
            with _of_agent():
                return agent.act(observation)
        except _AgentError as error:
            return Decision(invalid=str(error)[:2000])
        finally:
            agent.close()

    def _observation(self, job: OfflineJob, space: ObservationSpace, step: DemonstrationStepRecord) -> Observation:
        frame = Frame(
            data=self._store.get(step.frame_sha256),
            media_type=step.frame_media_type,
            width=step.width,
            height=step.height,
        )
        tree = self._store.get(step.tree_sha256).decode(errors="replace") if step.tree_sha256 else ""
        observation = space.observe(recorded_desktop(frame, tree, job.demonstration.platform), step.index)
        return observation if space.shows_frame else observation.model_copy(update={"frame": None})

    @staticmethod
    def _context(job: OfflineJob, plugin: type[Agent], models: Models) -> AgentContext:
        step, demonstration = job.steps[-1], job.demonstration
        return AgentContext(
            instruction="\n\n".join(filter(None, (demonstration.instruction, demonstration.note))),
            screen=ScreenSize(width=step.width, height=step.height),
            max_steps=max(DEFAULT_MAX_STEPS, len(job.steps)),
            seed=job.seed + len(job.steps) - 1,
            action_space=job.config.action_space or plugin.action_space,
            action_params=job.config.action_params,
            observation=job.config.observation or plugin.observation,
            platform=demonstration.platform,
            models=models,
        )

    @staticmethod
    def _recorded_decision(
        job: OfflineJob, plugin: type[Agent], step: DemonstrationStepRecord, observation: Observation
    ) -> Decision:
        """The recorded step as the agent's own: its verbatim reply if it was written in the same action space."""
        space = job.config.action_space or plugin.action_space
        actions = tuple(action.action for action in Reference.model_validate(step.reference).actions)
        sight = CoordinateFrame(
            screen=ScreenSize(width=step.width, height=step.height),
            view=observation.view,
            marks=observation.marks or (),
            platform=job.demonstration.platform,
        )
        reply = step.reply if step.reply and step.action_space == space else ""
        reply = reply or reply_of(actions, step.words, space, job.config.action_params or {}, sight)
        return Decision(actions=actions, explanation=step.words[:4000], reply=reply)
