"""Models that act and models that judge, from the command line to the score, with recorded answers."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from backend.web.templating import usd
from tests.factories.judging import answer
from tests.fakes.model_apis import ScriptedReply
from tests.fakes.model_server import ModelServer, ReceivedRequest, model_server
from tests.integration.cli.service import deskarena
from tests.integration.embedded.test_up import Up, with_worker
from tests.sampling import runs_everything, sample
from tests.waiting import until

pytestmark = [pytest.mark.stack, pytest.mark.desktop, pytest.mark.timeout(900)]
MODEL = "recorded-2026-01-01"
ENDPOINTS = """
[endpoints.recorded_server]
api = "openai_chat"
base_url = "{address}/v1"

[[prices]]
model = "recorded-*"
since = 2026-01-01
input = 10.0
output = 100.0
"""
CODE = """I act on what I see.
```python
import pyautogui
import time
{code}
```"""
# What the model said when each task was recorded: by a few words of the instruction, one reply a step.
RECORDED: Mapping[str, tuple[str, ...]] = {
    'Add the item "milk"': (
        CODE.format(code='pyautogui.hotkey("ctrl", "end")\npyautogui.write("milk\\n")\npyautogui.hotkey("ctrl", "s")'),
        "```python\ntime.sleep(0.5)\n```",
        "The file is saved.\n```\nDONE\n```",
    ),
    "Make the three scripts executable": (
        CODE.format(code='pyautogui.write("chmod +x scripts/*.sh\\n")\ntime.sleep(1)'),
        "```\nWAIT\n```",
        "DONE",
    ),
    "Pack the folder site": (
        CODE.format(code='pyautogui.write("tar czf site.tar.gz site\\n")\ntime.sleep(1)'),
        "```\nWAIT\n```",
        "DONE",
    ),
    "thesis-final.odt": ("There is no such file.\n```\nFAIL\n```",),
}
# What a native GUI model says to the first task, and a planner and its grounder.
TARS = (
    "Thought: I add it.\nAction: hotkey(key='ctrl end')\n\ntype(content='milk\\n')\n\nhotkey(key='ctrl s')",
    "Thought: It is being saved.\nAction: wait()",
    "Thought: The file is saved.\nAction: finished(content='milk is on the list')",
)
PLAN = (
    'I click.\n```json\n{"action_type": "CLICK", "element": "the text of the list"}\n```',
    """```json
[{"action_type": "HOTKEY", "keys": ["ctrl", "end"]}, {"action_type": "TYPING", "text": "milk\\n"},
 {"action_type": "HOTKEY", "keys": ["ctrl", "s"]}]
```""",
    "WAIT",
    "DONE",
)
GROUNDER = "grounder-2026-01-01"
FIRST = "editor/add_milk"
STEPS_OF = {FIRST: 3, "terminal/make_executable": 3, "terminal/pack_site": 3, "files/move_thesis": 1}
TASKS = tuple(sample(list(STEPS_OF), 2, daily=True))
STEPS = sum(STEPS_OF[task] for task in TASKS)
# What judges say.
GOOD = answer(c1=(True, 1), c2=(True, 1), final=(True, 1))
HALF = answer(c1=(True, 0), c2=False, final=False)
DROPPED = answer(c1=True, final=True)
"""Leaves out a criterion, which must raise no score."""
USAGE = {"input_tokens": 2000, "output_tokens": 100, "usd": 0.01, "calls": 1}
ANSWERS = {
    "good": (GOOD,),
    "mended": (DROPPED, f"I am sorry.\n```json\n{HALF}\n```"),
    "broken": (DROPPED, "All of it is done."),
    "other": (),
}


def recorded(asked: ReceivedRequest) -> ScriptedReply:
    """The reply of the task's current step, known from the number of answers before."""
    words, tokens = asked.text, (1000, 0, 10)
    if asked.body["model"] == GROUNDER:
        return ScriptedReply("(500, 400)", tokens=tokens, model=GROUNDER)
    if "call_user" in words:
        turns = sum(message["role"] == "assistant" for message in asked.body["messages"])
        return ScriptedReply(TARS[turns], tokens=tokens, model=MODEL)
    if "another model, which sees the same screen" in words:
        return ScriptedReply(PLAN[words.count("-> carried out")], tokens=tokens, model=MODEL)
    replies = next(replies for part, replies in RECORDED.items() if json.dumps(part)[1:-1] in words)
    turns = sum(message["role"] == "assistant" for message in asked.body["messages"])
    return ScriptedReply(replies[min(turns, len(replies) - 1)], tokens=tokens, model=MODEL)


@pytest.fixture(scope="module")
def models() -> Iterator[ModelServer]:
    """The model API."""
    with model_server() as server:
        server.answer = recorded
        yield server


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory, models: ModelServer) -> Iterator[Up]:
    """An installation that knows it, and an endpoint for each kind of judge."""
    data = tmp_path_factory.mktemp("data")
    judges = "".join(endpoint(data, name) for name in ANSWERS)
    with with_worker(data, 2, ENDPOINTS.format(address=models.address) + judges) as up:
        yield up


def submitted(
    up: Up, *more: str, agent: Sequence[str] = ("prompt", "--preset", "osworld"), names: Sequence[str] = TASKS
) -> dict[str, Any]:
    """The run, once it has ended, with its episodes."""
    tasks = [word for task in names for word in ("--tasks", task)]
    said = deskarena(
        *("run", "submit", "--benchmark", "starter", "--agent", *agent),
        *("--param", f"model={MODEL}", "--param", "endpoint=recorded_server", *tasks, *more),
        *("--wait", "--timeout", "600", "-o", "json"),
        server=up.url,
        timeout=660,
    )
    assert said.returncode == 0, said.stderr
    run = json.loads(said.stdout)
    found: dict[str, Any] = get(up, f"/runs/{run['id']}?include=episodes")
    return found


def get(up: Up, path: str) -> Any:
    """An object of the API."""
    answer = httpx.get(f"{up.url}/api/v1{path}", timeout=60)
    assert answer.is_success, answer.text
    return answer.json()


def tape(data: Path, name: str) -> Path:
    """Where the answers of this name are."""
    return data / f"{name}.jsonl"


def record(data: Path, name: str, *answers: str) -> None:
    """From now on the endpoint gives these answers."""
    lines = [json.dumps({"reply": {"text": text, "usage": USAGE}}) for text in answers]
    tape(data, name).write_text("\n".join(lines) + "\n")


def endpoint(data: Path, name: str) -> str:
    """An endpoint that replays the answers of this name."""
    record(data, name, *ANSWERS[name])
    return f'[endpoints.{name}]\napi = "recorded"\ncassette = "{tape(data, name)}"\n'


def submitted_to(up: Up, name: str, *options: str) -> str:
    """A run with this judge; its id."""
    said = deskarena(
        *("run", "submit", "--benchmark", "starter-windowsworld", "--agent", "oracle", "--tasks", "*/start_adm_l1_002"),
        *("--judge", f"endpoint={name}", "--judge", "model=judge-1", *options, "-o", "json"),
        server=up.url,
        timeout=660,
    )
    assert said.stdout, said.stderr
    return str(json.loads(said.stdout)["id"])


def judged(up: Up, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The run with this judge, once it has ended, and its episode."""
    run = get(up, f"/runs/{submitted_to(up, name, '--wait', '--timeout', '600')}?include=episodes")
    (episode,) = run["episodes"]
    return run, episode


@pytest.fixture(scope="module")
def good(up: Up) -> tuple[dict[str, Any], dict[str, Any]]:
    """A run with a judge that finds everything right, and its episode."""
    return judged(up, "good")


def unjudged(up: Up, run: str) -> dict[str, Any]:
    """The run's episode, once its evaluation is to be repeated; empty before."""
    (episode,) = get(up, f"/runs/{run}?include=episodes")["episodes"]
    return dict(episode) if "no verdict" in episode["reason"] else {}


def steps_of(up: Up, episode: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The agent's output in its newest attempt, without the picture that it left."""
    attempt = get(up, f"/episodes/{episode['id']}/attempts")["items"][-1]
    items = get(up, f"/attempts/{attempt['id']}/steps")["items"]
    return [step for step in items if {"final": True} not in [{"final": one.get("final")} for one in step["results"]]]


def scores(run: Mapping[str, Any]) -> dict[str, tuple[float, int]]:
    """Score and attempts by task."""
    return {episode["task"]: (episode["score"], episode["attempts"]) for episode in run["episodes"]}


class TestPromptAgent:
    def test_solves_tasks_by_recorded_replies_and_counts_what_they_cost(self, up: Up, models: ModelServer) -> None:
        before = len(models.asked)
        run = submitted(up)
        assert scores(run) == dict.fromkeys(TASKS, (1.0, 1))
        assert len(models.asked) - before == STEPS
        asked = models.asked[before].body
        assert (asked["model"], asked["temperature"], asked["top_p"]) == (MODEL, 1.0, 0.9)

        steps = [step for episode in run["episodes"] for step in steps_of(up, episode)]
        assert [step["usage"]["input_tokens"] for step in steps] == [1000] * STEPS
        assert sum(step["usage"]["usd"] for step in steps) == pytest.approx(STEPS * (0.01 + 0.001))
        assert all(step["prompt"] and step["extras"]["model"] == MODEL for step in steps)
        told = httpx.get(f"{up.url}{steps[0]['prompt']['url']}", timeout=30).text
        assert "# The task" in told

    def test_pins_what_defines_the_agent(self, up: Up) -> None:
        run = get(up, "/runs?agent=prompt")["items"][0]
        pins = run["pins"]
        assert (run["config"]["preset"], run["config"]["budget"]["max_steps"]) == ("osworld", 15)
        assert pins["model"]["answered"] == [MODEL]
        assert (pins["model"]["api"], pins["model"]["asked"]) == ("openai_chat", MODEL)
        assert set(pins["prompts"]) == {"prompt/system", "prompt/step", "action_space"}
        assert pins["observation"]["name"] == "screenshot"
        page = httpx.get(f"{up.url}/runs/{run['id']}", timeout=30).text
        assert page.count(MODEL) >= 2
        assert pins["prompts"]["prompt/system"][:12] in page
        assert usd(STEPS * 0.011) in page

    @pytest.mark.sampled(1, of="another way to ask a model")
    def test_an_api_that_fails_in_every_way_costs_no_episode(self, up: Up, models: ModelServer) -> None:
        models.fail(429, retry_after="1", times=60 if runs_everything() else 4)  # A minute, or a taste of it.
        models.fail(500, times=3)
        models.cut(times=2)
        run = submitted(up)
        assert models.left() == 0
        assert scores(run) == dict.fromkeys(TASKS, (1.0, 1))
        steps = [step for episode in run["episodes"] for step in steps_of(up, episode)]
        assert sum(step["usage"]["wait_seconds"] for step in steps) > 1
        assert sum(step["timing"]["wait"] for step in steps) > 1
        assert len(steps) == STEPS


@pytest.mark.sampled(1, of="another way to ask a model")
class TestNativeModel:
    def test_solves_a_task_in_its_own_format(self, up: Up) -> None:
        run = submitted(up, agent=("gui_model",), names=(FIRST,))
        assert scores(run) == {FIRST: (1.0, 1)}
        (episode,) = run["episodes"]
        steps = steps_of(up, episode)
        assert [[action["type"] for action in step["actions"]] for step in steps] == [
            ["HOTKEY", "TYPING", "HOTKEY"],
            ["WAIT"],
            ["DONE"],
        ]


@pytest.mark.sampled(1, of="another way to ask a model")
class TestPlannerAndGrounder:
    def test_solve_a_task_and_each_call_has_its_half(self, up: Up) -> None:
        more = ("--param", f"grounder_model={GROUNDER}", "--param", "grounder_endpoint=recorded_server")
        run = submitted(up, *more, agent=("planned",), names=(FIRST,))
        assert scores(run) == {FIRST: (1.0, 1)}
        (episode,) = run["episodes"]
        first, *others = steps_of(up, episode)
        calls = first["extras"]["model_calls"]
        assert [(call["part"], call["model"], call["failure"]) for call in calls] == [
            ("planner", MODEL, None),
            ("grounder", GROUNDER, None),
        ]
        assert first["usage"]["input_tokens"] == 2000
        assert all([call["part"] for call in step["extras"]["model_calls"]] == ["planner"] for step in others)
        assert run["pins"]["other_models"]["grounder_model"]["asked"] == GROUNDER


class TestJudged:
    def test_a_good_answer_is_the_verdict(self, up: Up, good: tuple[dict[str, Any], dict[str, Any]]) -> None:
        run, episode = good
        assert (episode["state"], episode["score"]) == ("scored", 1.0)
        (evaluation,) = get(up, f"/episodes/{episode['id']}/evaluations")["items"]
        assert {name: evaluation["measures"][name] for name in ("S_final", "S_int")} == {"S_final": 1.0, "S_int": 1.0}
        page = httpx.get(f"{up.url}/episodes/{episode['id']}", timeout=60).text
        assert "$0.010, 1 answer" in page
        assert "c1: seen" in page
        assert "$0.010, 1 answer" in httpx.get(f"{up.url}/runs/{run['id']}", timeout=60).text

    @pytest.mark.campaign
    def test_an_answer_that_leaves_out_a_criterion_is_asked_for_again(self, up: Up) -> None:
        _, episode = judged(up, "mended")
        (evaluation,) = get(up, f"/episodes/{episode['id']}/evaluations")["items"]
        assert (evaluation["measures"]["S_final"], evaluation["measures"]["S_int"]) == (0.0, 0.5)

    @pytest.mark.campaign
    def test_invalid_judge_reply_is_retried_with_the_stored_pictures(self, up: Up) -> None:
        run = submitted_to(up, "broken")
        episode = until(lambda: unjudged(up, run), 300, what="there was no verdict")
        (kept,) = get(up, f"/episodes/{episode['id']}/evaluations")["items"]
        assert (kept["score"], kept["current"], kept["measures"]) == (None, False, {})
        assert "cannot be used" in kept["failure"]
        record(up.data, "broken", GOOD)
        deskarena("run", "watch", run, "--timeout", "300", server=up.url, timeout=330)
        found = get(up, f"/episodes/{episode['id']}")
        assert (found["state"], found["score"], found["attempts"]) == ("scored", 1.0, 1)
        page = httpx.get(f"{up.url}/episodes/{episode['id']}", timeout=60).text
        assert 'data-evaluation="repeated"' in page

    @pytest.mark.campaign
    def test_other_judge_evaluates_the_stored_pictures(
        self, up: Up, good: tuple[dict[str, Any], dict[str, Any]]
    ) -> None:
        _, episode = good
        record(up.data, "other", HALF)
        asking = ("episode", "rescore", episode["id"], "--judge", "endpoint=other", "--judge", "model=judge-2")
        said = deskarena(*asking, "-o", "json", server=up.url, timeout=300)
        (row,) = json.loads(said.stdout)["rescores"]
        assert (row["state"], row["old_score"], row["new_score"], row["make_current"]) == ("done", 1.0, 0.0, False)
        assert get(up, f"/episodes/{episode['id']}")["score"] == 1.0

    @pytest.mark.campaign
    def test_the_judges_are_listed(self, up: Up) -> None:
        said = deskarena("judge", "list", "-o", "json", server=up.url, timeout=120)
        found = {judge["endpoint"]: judge["attempts_judged"] for judge in json.loads(said.stdout)}
        assert found == {"good": 1, "mended": 1, "broken": 1, "other": 1}
        judge = next(judge for judge in json.loads(said.stdout) if judge["endpoint"] == "good")
        page = deskarena("judge", "review", judge["id"], "--draw", "1", server=up.url, timeout=120)
        assert page.stdout.strip() == f"{up.url}/judges/{judge['id']}/review"
        shown = deskarena("judge", "show", judge["id"], server=up.url, timeout=120)
        assert "0 of 1 drawn attempts judged by two people" in shown.stdout
