"""Common cases of agents that ask models."""

from collections.abc import Sequence
from io import BytesIO
from typing import Any

from PIL import Image

from backend.domain import registry
from backend.domain.model.run import ScreenSize
from backend.domain.model.trajectory import Frame, Mark, Observation, Window
from backend.domain.ports.agent import AgentContext
from backend.domain.ports.model import Message, ModelRequest
from backend.domain.registry import PluginKind
from tests.fakes.models import FakeModels

SCREEN = ScreenSize(width=640, height=480)
SAVE = Mark(
    id=1, kind="control", text="Save", x=10, y=20, width=40, height=20, origin="tree", tag="push-button", name="Save"
)
TREE = """<desktop-frame xmlns:st="https://accessibility.ubuntu.example.org/ns/state"
 xmlns:cp="https://accessibility.ubuntu.example.org/ns/component">
<push-button name="Save" st:showing="true" st:visible="true" st:enabled="true"
 cp:screencoord="(10, 20)" cp:size="(40, 20)"/></desktop-frame>"""


def frame(width: int = 640, height: int = 480, colour: str = "navy") -> Frame:
    """A picture of one colour."""
    out = BytesIO()
    Image.new("RGB", (width, height), colour).save(out, "PNG")
    return Frame(data=out.getvalue(), media_type="image/png", width=width, height=height)


def begun(
    agent: str,
    models: FakeModels,
    *,
    instruction: str = "Save the file.",
    steps: int = 15,
    action_params: Any = None,
    **params: Any,
) -> Any:
    """The agent at the start of an episode."""
    registry.load()
    plugin = registry.lookup(PluginKind.AGENT, agent)
    made = plugin(plugin.Params.model_validate({"model": "m", **params}))
    limits = {"screen": SCREEN, "max_steps": steps, "action_params": action_params}
    made.reset(AgentContext(instruction=instruction, seed=3, models=models, **limits))
    return made


def seen(index: int = 0, **more: Any) -> Observation:
    """An observation with a picture."""
    return Observation(index=index, **{"frame": frame(), **more})


def marked(index: int = 0, **more: Any) -> Observation:
    """An observation as `waa` gives it."""
    windows = (Window(title="Notes", active=False), Window(title="Editor", active=True))
    given = {"agent_view": frame(colour="red"), "marks": (SAVE,), "windows": windows, "clipboard": "copied", **more}
    return seen(index, **given)


def texts(messages: Sequence[Message] | ModelRequest) -> str:
    """All words of a request."""
    result = messages.messages if isinstance(messages, ModelRequest) else messages
    return "\n".join(part.text for one in result for part in one.parts if part.text)


def pictures(request: ModelRequest) -> list[Frame]:
    """All pictures of a request, in order."""
    return [part.image for one in request.messages for part in one.parts if part.image is not None]


def roles(request: ModelRequest) -> list[str]:
    """Who speaks, in order."""
    return [one.role for one in request.messages]
