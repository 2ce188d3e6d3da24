"""The report of `make try-agents`."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from tools.try_agents.trials import AgentTrial

_HEAD = """# Public agents

Agents as their authors publish them, run through `deskarena.desktop_env.DesktopEnv` on local desktops.
`make try-agents OSWORLD=FOLDER AGENT_S=FOLDER` runs them and writes this page; the checkouts are yours to bring. Their
models are a server on this machine with fixed replies: on the starter task `editor/add_milk` those of the oracle's
recorded actions, in each agent's own form. So a score of 1 says that everything between a reply and the verdict works,
and nothing of a model's abilities.

The changed line is the import: `from deskarena.desktop_env import DesktopEnv`. Server, benchmark and model come from
variables of the environment; OSWorld's parallel runners also want `AWS_*` to be set. Two things are changed from
outside, without a change in the agents' code: sleeps are cut to 1 s, and tokens are counted without the vocabulary that
tiktoken fetches from the web. `ui-tars` is a parser without a runner: a loop of 50 lines asks the model, parses with it
and calls `step`.

"""
_GUEST = """
## What agents expect of a desktop

Read from the code of OSWorld's agents, Agent-S, UI-TARS, CoAct, OS-Symphony, Maestro and cua. `tests/contract/
test_guest_calls.py` makes these calls on every provider.

| what | who | Linux desktops and images | Windows (Wine) |
|---|---|---|---|
| `pyperclip` with a clipboard behind it | Agent-S, UI-TARS, OS-Symphony, GUI-Owl, Mano, DART | yes | yes |
| Pillow, `pyautogui.screenshot()` | code of models | yes (`scrot`) | yes |
| `wmctrl`, `xprop`, `xdotool` | Agent-S, GTA1, AutoGLM, Anthropic's tools | yes | - |
| `xclip`, `xsel` | OS-Symphony, Agent-S (installs them if pyperclip is missing) | yes | - |
| `sudo -S`, password `password` | CoAct, OS-Symphony, VLAA, Seed | image `full`; else a line that says why not | - |
| `pip install` | VLAA, Agent-S | yes, into `~/.local`, where the task's network allows | yes |
| `/home/user`, `~/Desktop`, `C:\\Users\\Docker` | prompts of all | yes | yes |
| `en_US.UTF-8` | dates, numbers and sorting in tasks | yes; `C.UTF-8` where it is not generated | yes |
| Liberation, DejaVu, emoji; Chinese, Japanese, Korean, Arabic | UI-TARS (prompts in Chinese) | yes | not tested |
| `env.controller.run_bash_script`, `run_python_script` | Agent-S3, CoAct, OS-Symphony, VLAA | yes | Python only |
| `env.setup_controller._upload_file_setup`, `_launch_setup` | AutoGLM | yes | files only |

Windows desktops have neither bash nor sudo: `run_bash_script` raises a sentence, and `deskarena doctor` lists it. Their
pip installs into the user's `AppData`.

Not supported: set-up by the agent (`setup_controller.setup`, `_chrome_open_tabs_setup`, `_proxy_setup`), which raises a
sentence; AutoGLM's runners subclass OSWorld's environment and replace its `reset`, so they need more than one line.
"""


@dataclass(frozen=True)
class TrialOutcome:
    """Result of one trial; `actions` are the types of the recorded actions."""

    trial: AgentTrial
    lines: int
    score: float | None
    actions: tuple[str, ...]


def write_page(
    path: Path, outcomes: Sequence[TrialOutcome], packages: Mapping[str, str], commits: Mapping[str, str]
) -> None:
    """Writes the report.

    Args:
        path: the page.
        outcomes: in the order of the table.
        packages: versions in the agents' environment.
        commits: of the checkouts.
    """
    of = {"osworld": f"commit {commits['osworld']}", "agent-s": f"commit {commits['agent-s']}"}
    rows = [_row(outcome, of, packages) for outcome in outcomes]
    table = (
        "| agent | version | task | lines changed | needs | recorded steps | score |\n|---|---|---|---|---|---|---|\n"
    )
    when = f"Run on {datetime.now(UTC):%Y-%m-%d}, with openai {packages.get('openai', 'unknown')}.\n\n"
    path.write_text(f"{_HEAD}{when}{table}{''.join(rows)}{_GUEST}")


def _row(outcome: TrialOutcome, commits: Mapping[str, str], packages: Mapping[str, str]) -> str:
    trial = outcome.trial
    version = commits.get(trial.source, "")
    if not trial.checkout:
        package = "ui-tars" if trial.source == "ui-tars" else "gui-agents"
        version = f"{package} {packages.get(package, 'unknown')}"
    counts = ", ".join(f"{number} {kind}" for kind, number in Counter(outcome.actions).items())
    lines = "own loop" if trial.source == "ui-tars" else str(outcome.lines)
    score = "none" if outcome.score is None else f"{outcome.score:g}"
    task = trial.task[:20]
    return f"| {trial.agent} | {version} | {task} | {lines} | {trial.needs or '-'} | {counts} | {score} |\n"
