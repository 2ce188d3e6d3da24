"""Which public agents are tried, on which task, with which replies, and what changes in their runner."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from backend.domain.evaluators.getters.vlc.default_video_player import TYPES
from tools.try_agents import replies
from tools.try_agents.model_server import Reply, in_turn, message_item

IMPORT = "from desktop_env.desktop_env import DesktopEnv"
OURS = "from deskarena.desktop_env import DesktopEnv"
STARTER, PLAYER, BLUETOOTH = (
    "editor/add_milk",
    "multi_apps/937087b6-f668-4ba6-9110-60682ee33441",
    ("os/b3d4a89c-53f2-4d6b-8b6a-541fb5d205fa"),
)
_MAKE_DEFAULT = "xdg-mime default vlc.desktop " + " ".join(f"video/{name}" for name in TYPES.split())
_SETTINGS = ("screenshot", "a11y_tree", "screenshot_a11y_tree", "som")


@dataclass(frozen=True)
class AgentTrial:
    """One agent on one task.

    Attributes:
        agent: its name and setting.
        source: `osworld`, `agent-s`, or the PyPI package.
        runner: its program in the source's tree, with its arguments.
        task: key of the task.
        reply: the model's replies.
        needs: what the agent needs beside the changed line.
        checkout: the source's own package is used, not PyPI's.
        mended: file of the source to a line that fails on any environment, and the same line mended.
    """

    agent: str
    source: str
    runner: str
    task: str
    reply: Reply
    arguments: Sequence[str] = ()
    needs: str = ""
    checkout: bool = True
    mended: Mapping[str, tuple[str, str]] = field(default_factory=dict)

    @property
    def benchmark(self) -> str:
        return "starter" if self.task == STARTER else "osworld"


def trials(recorded: Sequence[Mapping[str, Any]]) -> list[AgentTrial]:
    """All trials; `recorded` are the oracle's actions on the starter task."""
    return [*_prompt_agent(recorded), *_computer_use(recorded), *_ui_tars(recorded), *_agent_s3(recorded)]


def _prompt_agent(recorded: Sequence[Mapping[str, Any]]) -> list[AgentTrial]:
    runner, name = "run.py", "OSWorld PromptAgent, {}"
    terminal = [
        "```python\nimport subprocess; subprocess.Popen(['xterm', '-geometry', '100x30+300+300'])\ntime.sleep(3)\n```",
        "```python\npyautogui.click(500, 400)\n```",
        f"```python\npyautogui.typewrite({_MAKE_DEFAULT + chr(10)!r}, interval=0.01)\ntime.sleep(3)\n```",
        "```DONE```",
    ]
    return [
        *(
            AgentTrial(
                name.format(setting),
                "osworld",
                runner,
                STARTER,
                in_turn(replies.prompt_agent(recorded)),
                ("--observation_type", setting),
                "Accessibility tree" if setting != "screenshot" else "",
            )
            for setting in _SETTINGS
        ),
        AgentTrial(
            name.format("screenshot"),
            "osworld",
            runner,
            PLAYER,
            in_turn(terminal),
            ("--observation_type", "screenshot"),
            "Programs started by code",
        ),
    ]


def _computer_use(recorded: Sequence[Mapping[str, Any]]) -> list[AgentTrial]:
    runner, name = "scripts/python/run_multienv_openaicua.py", "OSWorld OpenAI runner"
    refusal = in_turn([[message_item("This is infeasible: there is no Bluetooth adapter.")]])
    return [
        AgentTrial(name, "osworld", runner, STARTER, in_turn(replies.openai_computer_use(recorded))),
        AgentTrial(name, "osworld", runner, BLUETOOTH, refusal, needs="FAIL for an infeasible task"),
    ]


def _ui_tars(recorded: Sequence[Mapping[str, Any]]) -> list[AgentTrial]:
    runner, name = "scripts/python/run_multienv_uitars15_v1.py", "OSWorld UI-TARS 1.5 runner"
    needs = "pyperclip with a clipboard: text is pasted"
    reset = "def reset(self, runtime_logger=None{}):"
    mended = {"mm_agents/uitars15_v1.py": (reset.format(""), reset.format(", vm_ip=None"))}
    defect = "its `reset` takes no `vm_ip`, which this commit's runner passes (second line)"
    boxes = replies.ui_tars(recorded, "start_box='({x28:.0f},{y28:.0f})'")
    points = replies.ui_tars(recorded, "point='<point>{x1000} {y1000}</point>'")
    failing = in_turn(["Thought: no adapter\nAction: error_env()"])
    return [
        AgentTrial(name, "osworld", runner, STARTER, in_turn(boxes), needs=f"{needs}; {defect}", mended=mended),
        AgentTrial(name, "osworld", runner, BLUETOOTH, failing, needs="FAIL for an infeasible task", mended=mended),
        AgentTrial(
            "ui-tars parser", "ui-tars", "ui_tars_runner.py", STARTER, in_turn(points), needs=needs, checkout=False
        ),
    ]


def _agent_s3(recorded: Sequence[Mapping[str, Any]]) -> list[AgentTrial]:
    runner, needs = "osworld_setup/s3/run.py", "pyperclip; `env.controller` exists"
    plans = replies.agent_s3(recorded)
    thought = "<thoughts>\nnext\n</thoughts>\n<answer>\n{}\n</answer>"
    scripts = [thought.format(f"```bash\n{_MAKE_DEFAULT}\n```"), thought.format("DONE")]
    coding = [
        "(Grounded Action)\n```python\nagent.call_code_agent()\n```",
        "(Grounded Action)\n```python\nagent.done()\n```",
    ]
    code = replies.agent_s3_server(coding, scripts)
    return [
        AgentTrial("Agent-S3, checkout", "agent-s", runner, STARTER, replies.agent_s3_server(plans), needs=needs),
        AgentTrial("Agent-S3, checkout", "agent-s", runner, PLAYER, code, needs="`run_bash_script` of the controller"),
        AgentTrial(
            "Agent-S3, gui-agents",
            "agent-s",
            runner,
            STARTER,
            replies.agent_s3_server(plans),
            needs=needs,
            checkout=False,
        ),
        AgentTrial(
            "Agent-S3, gui-agents",
            "agent-s",
            runner,
            PLAYER,
            code,
            needs="`run_bash_script` of the controller",
            checkout=False,
        ),
    ]
