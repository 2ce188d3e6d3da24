"""The ports of what acts: agents, what they see, how their replies are read. See `desktop.py` for what all share."""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict, SkipValidation

from backend.domain.model.run import ScreenSize
from backend.domain.model.task import Frozen, Task
from backend.domain.model.trajectory import Action, Decision, Frame, Mark, Observation, ScreenView
from backend.domain.ports.desktop import Desktop
from backend.domain.ports.model import ModelReply, Models, Tool
from backend.domain.ports.web import Browser


class AgentChannel(Protocol):
    """The line to somebody outside who acts on the desktop: a program (`remote`, `container`) or a person (`human`).

    One per attempt, held by the worker; the API holds the other end. Thread-safe. Nothing that comes over is trusted.
    """

    def show(self, observation: Observation, extra: Mapping[str, Any]) -> None:
        """Offers this observation to the next request; replaces the one before. `extra`: instruction, budgets, ..."""
        ...

    def take(self, seconds: float) -> Mapping[str, Any] | None:
        """The next message, oldest first; None if none came in time. Each is given once.

        Raises:
            ClusterLost: the broker is gone for longer than a lease lives, the API for much longer, or the line was
                closed.
        """
        ...

    def present(self) -> bool:
        """Whether the other end has been heard of within the last 30 s."""
        ...

    def held_seconds(self) -> float:
        """Seconds so far in which broker or API were away, so that nobody outside could act: not the agent's time."""
        ...

    def unheard(self) -> str:
        """Why it is not the agent's doing that nobody answers; empty if it is.

        The line was broken, and the other end, which may have ended with that, was not heard of since.
        """
        ...

    def close(self) -> None:
        """The attempt is over: ends a `take` under way and offers nothing any more. Safe to call twice."""
        ...


class TakeoverControl(Protocol):
    """A person's hand on an agent's episode: take-over and hand-back. One per attempt; asked before every decision."""

    def taken(self) -> bool:
        """Whether a person has taken over and is still there. Cheap. Without a broker nobody has."""
        ...

    def decide(self, observation: Observation, seconds: float) -> Decision | None:
        """The person's next decision, with `by="person"`; None if none came within that number of seconds.

        What they sent is checked as any agent's answer is; what makes no sense is dropped.
        """
        ...


class AgentContext(Frozen):
    """What an agent is told at the start of an episode.

    Attributes:
        instruction: the task's text. All that a measured agent may know of the task.
        task: the whole task; for `oracle` and validation agents only, None for all others.
        seed: this episode's own seed.
        trajectory: recorded decisions, for `replay`.
        action_space: the run's, by its registered name; empty = the agent's default.
        action_params: options of the action space, as its own schema; None = its defaults.
        observation: likewise, of the observation space.
        max_seconds: of the agent's time.
        platform: `Linux` or `Windows`, as the guest says.
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
    """What a reply's coordinates and marks refer to.

    Attributes:
        screen: the desktop's size in pixels.
        view: where the screen lies in the picture that was shown; None = pixel by pixel.
        marks: what was numbered.
        platform: `Linux` or `Windows`.
    """

    screen: ScreenSize = ScreenSize()
    view: ScreenView | None = None
    marks: tuple[Mark, ...] = ()
    platform: str = "Linux"


class ActionSpace(Protocol):
    """Turns a model's reply into typed actions. One file each in `backend/domain/actions/`.

    A plug-in class has also: `about`, one sentence; `Params`, a pydantic model of its options (where its coordinates
    count: `screen` pixels, `picture` pixels, or `unit`, 0 to 1), made with `Params()` where a run gives none.
    """

    Params: type[BaseModel]
    about: str

    def __init__(self, params: Any = None) -> None: ...

    def instructions(self, sight: CoordinateFrame) -> str:
        """The part of a prompt that says which actions there are and how to write them; our own words."""
        ...

    def tools(self, sight: CoordinateFrame) -> tuple[Tool, ...]:
        """Tools to offer to the model; empty for spaces that are written as text."""
        ...

    def parse(self, reply: ModelReply | str, sight: CoordinateFrame = CoordinateFrame()) -> tuple[Action, ...]:  # noqa: B008 - frozen.
        """The actions of a reply, in screen pixels. Tolerant where upstream is; guesses nothing.

        Raises:
            InvalidAction: it is none; `path` says where in it. Nothing of such a reply is carried out.
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
        """Called once at the end, whatever happened."""
        ...


class PerceptionTools(Protocol):
    """What an observation space may use beside the desktop, for one attempt."""

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
            ClusterLost: there is no Tesseract here, or not for that language; says what to install.
        """
        ...

    def detect(self, endpoint: str, picture: Frame) -> Sequence[Mapping[str, Any]]:
        """Asks an element detector (an OmniParser-style HTTP service that the operator configured) what it sees.

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
        shows_frame: False for spaces without a picture: it is kept in the trajectory but not shown to the agent.
    """

    Params: type[BaseModel]
    about: str
    shows_frame: bool

    def __init__(self, params: Any = None, eyes: PerceptionTools | None = None) -> None: ...

    def observe(self, desktop: Desktop, index: int) -> Observation:
        """Captures one observation. Always with a frame: the trajectory keeps one picture per step."""
        ...

    def acted(self, actions: Sequence[Action]) -> None:
        """Told after each decision which of its actions were carried out, in order; mostly of no interest to it."""
        ...
