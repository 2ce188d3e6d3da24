"""A task that a model judges, from the command line to the score on a real desktop, with recorded answers."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.e2e.test_model_agents import get
from tests.factories.judging import answer
from tests.integration.cli.service import deskarena
from tests.integration.embedded.test_up import Up, with_worker
from tests.waiting import until

pytestmark = [pytest.mark.stack, pytest.mark.desktop, pytest.mark.timeout(900)]
BENCHMARK, TASK = "starter-windowsworld", "start_adm_l1_002"
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


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """An installation with an endpoint for each kind of judge."""
    data = tmp_path_factory.mktemp("data")
    with with_worker(data, 2, "".join(endpoint(data, name) for name in ANSWERS)) as up:
        yield up


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


def submitted(up: Up, name: str, *options: str) -> str:
    """A run with this judge; its id."""
    said = deskarena(
        *("run", "submit", "--benchmark", BENCHMARK, "--agent", "oracle", "--tasks", f"*/{TASK}"),
        *("--judge", f"endpoint={name}", "--judge", "model=judge-1", *options, "-o", "json"),
        server=up.url,
        timeout=660,
    )
    assert said.stdout, said.stderr
    return str(json.loads(said.stdout)["id"])


def judged(up: Up, name: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The run with this judge, once it has ended, and its episode."""
    run = get(up, f"/runs/{submitted(up, name, '--wait', '--timeout', '600')}?include=episodes")
    (episode,) = run["episodes"]
    return run, episode


def unjudged(up: Up, run: str) -> dict[str, Any]:
    """The run's episode, once its evaluation is to be repeated; empty before."""
    (episode,) = get(up, f"/runs/{run}?include=episodes")["episodes"]
    return dict(episode) if "no verdict" in episode["reason"] else {}


class TestJudged:
    def test_a_good_answer_is_the_verdict(self, up: Up) -> None:
        run, episode = judged(up, "good")
        assert (episode["state"], episode["score"]) == ("scored", 1.0)
        (evaluation,) = get(up, f"/episodes/{episode['id']}/evaluations")["items"]
        assert {name: evaluation["measures"][name] for name in ("S_final", "S_int")} == {"S_final": 1.0, "S_int": 1.0}
        page = httpx.get(f"{up.url}/episodes/{episode['id']}", timeout=60).text
        assert "$0.010, 1 answer" in page
        assert "c1: seen" in page
        assert "$0.010, 1 answer" in httpx.get(f"{up.url}/runs/{run['id']}", timeout=60).text

    def test_an_answer_that_leaves_out_a_criterion_is_asked_for_again(self, up: Up) -> None:
        _, episode = judged(up, "mended")
        (evaluation,) = get(up, f"/episodes/{episode['id']}/evaluations")["items"]
        assert (evaluation["measures"]["S_final"], evaluation["measures"]["S_int"]) == (0.0, 0.5)

    def test_without_a_usable_answer_the_judge_is_asked_again_over_the_kept_pictures(self, up: Up) -> None:
        run = submitted(up, "broken")
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

    def test_another_judge_looks_at_the_kept_pictures(self, up: Up) -> None:
        _, episode = judged(up, "good")
        record(up.data, "other", HALF)
        asking = ("episode", "rescore", episode["id"], "--judge", "endpoint=other", "--judge", "model=judge-2")
        said = deskarena(*asking, "-o", "json", server=up.url, timeout=300)
        (row,) = json.loads(said.stdout)["rescores"]
        assert (row["state"], row["old_score"], row["new_score"], row["make_current"]) == ("done", 1.0, 0.0, False)
        assert get(up, f"/episodes/{episode['id']}")["score"] == 1.0

    def test_the_judges_are_listed(self, up: Up) -> None:
        said = deskarena("judge", "list", "-o", "json", server=up.url, timeout=120)
        found = {judge["endpoint"]: judge["attempts_judged"] for judge in json.loads(said.stdout)}
        assert found == {"good": 2, "mended": 1, "broken": 1, "other": 1}
        judge = next(judge for judge in json.loads(said.stdout) if judge["endpoint"] == "good")
        page = deskarena("judge", "review", judge["id"], "--draw", "1", server=up.url, timeout=120)
        assert page.stdout.strip() == f"{up.url}/judges/{judge['id']}/review"
        shown = deskarena("judge", "show", judge["id"], server=up.url, timeout=120)
        assert "0 of 1 drawn attempts judged by two people" in shown.stdout
