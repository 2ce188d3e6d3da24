"""The ports of what acts: agents, what they see, how their replies are read. See `desktop.py` for what all share."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from pydantic import BaseModel, ConfigDict, SkipValidation

from backend.domain.model.run import ScreenSize
from backend.domain.model.task import Frozen, Task
from backend.domain.model.trajectory import Action, Decision, Frame, Mark, Observation, ScreenView
from backend.domain.ports.desktop import Desktop
from backend.domain.ports.model import ModelReply, Models, Tool, ToolCall
from backend.domain.ports.web import Browser


class AgentChannel(Protocol):
    """Channel to an external actor: a program (`remote`, `container`) or a person (`human`).

    One per attempt, held by the worker; the API holds the other end. Thread-safe. Nothing that comes over is trusted.
    """

    def show(self, observation: Observation, extra: Mapping[str, Any]) -> None:
        """Offers an observation to the next request, replacing the previous one. `extra`: instruction, budgets, ..."""
        ...

    def take(self, seconds: float) -> Mapping[str, Any] | None:
        """The next message, oldest first; None on timeout. Each is returned once.

        Raises:
            ClusterLost: the broker was unavailable for longer than a lease, the API for much longer, or the channel was
                closed.
        """
        ...

    def present(self) -> bool:
        """Whether the other end has been heard of within the last 30 s."""
        ...

    def wait_seconds(self) -> float:
        """Total seconds of outages of broker or API, when no external actor could act: not the agent's time."""
        ...

    def unheard(self) -> str:
        """Why a missing answer is not the agent's fault; empty if it is.

        The line was broken, and the other end, which may have ended with that, was not heard of since.
        """
        ...

    def close(self) -> None:
        """The attempt is over: ends a `take` under way and offers nothing any more. Safe to call twice."""
        ...


class TakeoverControl(Protocol):
    """A person's hand on an agent's episode: take-over and hand-back. One per attempt; asked before every decision."""

    def is_active(self) -> bool:
        """Whether a person is in control. Cheap. False without a broker."""
        ...

    def decide(self, observation: Observation, seconds: float) -> Decision | None:
        """The person's next decision, with `by="person"`; None if none came within that number of seconds.

        Messages are validated like any agent's answer; invalid ones are dropped.
        """
        ...


class AgentContext(Frozen):
    """Context of an agent at the start of an episode.

    Attributes:
        instruction: the task's text. All that a measured agent may know of the task.
        task: the whole task; for `oracle` and validation agents only, None for all others.
        seed: this episode's own seed.
        trajectory: recorded decisions, for `replay`.
        action_space: the run's, by its registered name; empty = the agent's default.
        action_params: options of the action space, as its own schema; None = its defaults.
        observation: likewise, of the observation space.
        max_seconds: of the agent's time.
        platform: `Linux` or `Windows`, as reported by the guest.
        models: language models; None in tests of agents that need none.
        line: to a program or person outside; likewise.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    instruction: str
    screen: ScreenSize
    max_steps: int
    seed: int
    task: Task | None = None
    trajectory: tuple[Decision, ...] = ()
    action_space: str = ""
    action_params: Mapping[str, Any] | None = None
    observation: str = ""
    max_seconds: float = 1800.0
    platform: str = "Linux"
    models: SkipValidation[Models | None] = None
    line: SkipValidation[AgentChannel | None] = None


class CoordinateFrame(Frozen):
    """Frame of reference of a reply's coordinates and marks.

    Attributes:
        screen: the desktop's size in pixels.
        view: position of the screen in the picture shown; None = identical.
        marks: what was numbered.
        platform: `Linux` or `Windows`.
    """

    screen: ScreenSize = ScreenSize()
    view: ScreenView | None = None
    marks: tuple[Mark, ...] = ()
    platform: str = "Linux"


class CallOutcome(Frozen):
    """Outcome of one call of a model.

    Attributes:
        results: the desktop's, one per action of the call (`Observation.results`).
        frame: the screen afterwards, in its own pixels.
        sight: what the call's coordinates refer to.
    """

    results: tuple[Mapping[str, Any], ...]
    frame: Frame | None
    sight: CoordinateFrame


class CallResult(Frozen):
    """Result of one call, for the model.

    Attributes:
        picture: shown before the screen.
        failed: the call was not carried out.
    """

    text: str
    picture: Frame | None = None
    failed: bool = False


@runtime_checkable
class CallResults(Protocol):
    """An action space with calls that ask something of the desktop."""

    def result(self, call: ToolCall, outcome: CallOutcome) -> CallResult | None:
        """The result of a call that was carried out; None where the next screen is all of it."""
        ...


@runtime_checkable
class ElementNames(Protocol):
    """An action space whose actions describe elements.

    `parse` takes their places from the marks of its coordinate frame with these names.
    """

    def elements(self, reply: ModelReply) -> tuple[str, ...]:
        """The elements of a reply, each once, in order. Raises InvalidAction."""
        ...


@runtime_checkable
class PlaceAnswers(Protocol):
    """An action space in which a model can be asked for the place of one element; the answer is an action there."""

    def place_instructions(self, sight: CoordinateFrame) -> str:
        """The part of a prompt that describes the form of the answer and its coordinates."""
        ...


class ActionSpace(Protocol):
    """Turns a model's reply into typed actions. One file each in `backend/domain/actions/`.

    A plug-in class has also: `about`, one sentence; `Params`, a pydantic model of its options (where its coordinates
    count: `screen` pixels, `picture` pixels, or `unit`, 0 to 1), made with `Params()` where a run gives none.
    """

    Params: type[BaseModel]
    about: str

    def __init__(self, params: Any = None) -> None: ...

    def instructions(self, sight: CoordinateFrame) -> str:
        """The part of a prompt that describes the actions and their format."""
        ...

    def tools(self, sight: CoordinateFrame) -> tuple[Tool, ...]:
        """Tools to offer to the model; empty for spaces that are written as text."""
        ...

    def parse(self, reply: ModelReply | str, sight: CoordinateFrame = CoordinateFrame()) -> tuple[Action, ...]:  # noqa: B008 - frozen.
        """The actions of a reply, in screen pixels. Tolerant where upstream is; guesses nothing.

        Raises:
            InvalidAction: the reply is invalid; `path` says where. Nothing of it is executed.
        """
        ...


class Agent(Protocol):
    """A policy. One instance per attempt.

    A plug-in class has also: `Params`, a pydantic model of its parameters (its fields' descriptions are the form's
    help texts), `observation`, the name of its default observation space, `action_space` likewise, `about`, one
    sentence for the form, and `privileged`, True when it must see the task (then it is never ranked). One through
    whom a person acts says `human = True`: its episodes wait for a person, and it is marked on boards. One that
    cannot do without the accessibility tree says `needs_tree = True`: it gets it with every observation.
    """

    Params: type[BaseModel]
    observation: str
    action_space: str
    about: str
    privileged: bool

    def __init__(self, params: Any) -> None: ...

    def reset(self, context: AgentContext) -> None:
        """Called once before the first observation."""
        ...

    def act(self, observation: Observation) -> Decision:
        """Chooses the next actions.

        Raises:
            ModelApiFailed: the episode is held and tried again.
            AgentFailed: it ends by `agent_error`; any other exception counts as this one.
        """
        ...

    def close(self) -> None:
        """Called once at the end in any case."""
        ...


@runtime_checkable
class FollowsRecords(Protocol):
    """An agent whose history can be recorded steps, so that it can be asked at any of them."""

    def follow(self, observation: Observation, decision: Decision) -> None:
        """Takes a recorded step as its own. Called after `reset`, before `act`, in order.

        Args:
            observation: of the step, as the agent's observation space shows it.
            decision: with the reply as the agent might have written it.
        """
        ...


class PerceptionTools(Protocol):
    """Perception tools of observation spaces, for one attempt."""

    def browser(self, port: int = 9222) -> Browser:
        """The browser that listens on that port of the desktop."""
        ...

    def read(self, picture: Frame, language: str = "eng") -> Sequence[Mapping[str, Any]] | None:
        """Reads the lines of text in a picture (OCR).

        Args:
            picture: of the screen.
            language: as Tesseract names them, several with `+`.

        Returns:
            `{text, bbox: [x1, y1, x2, y2] in pixels of the picture}` each, at most 2,000; None if it took too long.

        Raises:
            ClusterLost: Tesseract or its language is not installed; the message says what to install.
        """
        ...

    def detect(self, endpoint: str, picture: Frame) -> Sequence[Mapping[str, Any]]:
        """Elements found by the configured detector (an OmniParser-style HTTP service).

        Returns:
            `{type, bbox: [x1, y1, x2, y2] in 0-1, content, interactivity}` each; at most 2,000.

        Raises:
            ModelApiFailed: it is not configured, does not answer or answers nonsense.
        """
        ...


class ObservationSpace(Protocol):
    """Which parts of the desktop an agent sees. One instance per attempt: it may remember the step before.

    A plug-in class has also: `about`, one sentence; `Params`, a pydantic model of its options, made with `Params()`
    where a run gives none.

    Attributes:
        shows_frame: False for spaces without a picture, which is only stored in the trajectory.
    """

    Params: type[BaseModel]
    about: str
    shows_frame: bool

    def __init__(self, params: Any = None, eyes: PerceptionTools | None = None) -> None: ...

    def observe(self, desktop: Desktop, index: int) -> Observation:
        """Captures one observation. Always with a frame: the trajectory keeps one picture per step."""
        ...

    def acted(self, actions: Sequence[Action]) -> None:
        """Called after each decision with its executed actions, in order; most spaces ignore it."""
        ...
