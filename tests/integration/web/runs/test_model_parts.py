"""Calls of the models of an agent that asks several: on the pages of step and run, and in exports."""

import html
import io
import json
import zipfile
from typing import Any

from fastapi.testclient import TestClient

from backend.domain.model.episode import EndedBy
from backend.domain.model.model_calls import CallFailure, ModelPart
from backend.domain.model.trajectory import Decision, ModelCall, Observation, StepRecord, Usage
from backend.services.attempts import attempts
from backend.services.attempts.attempts import StepRow
from backend.services.runs.views.model_parts import model_part_rows
from tests.factories.records import World, evaluation
from tests.factories.run_format_schemas import validator

PAGE = {"Accept": "text/html"}
USAGE = Usage(input_tokens=100, output_tokens=10, usd=0.25, calls=1)
PLANNED = ModelCall(part=ModelPart.PLANNER, endpoint="openai", model="p", seconds=2.0, usage=USAGE)
FOUND = ModelCall(
    part=ModelPart.GROUNDER, endpoint="local", model="g", query="Save", reply="(1, 2)", seconds=0.5, usage=USAGE
)
LOST = FOUND.model_copy(
    update={"reply": "<i>Nowhere</i>", "failure": CallFailure.NO_POINT, "seconds": 1.5, "usage": Usage(priced=False)}
)


def test_planner_and_grounder_have_separate_usage(fresh: TestClient, installation: World) -> None:
    run_id = installation.submit(tasks=("files/a",)).id
    claim = installation.must_claim(installation.worker())
    installation.do(attempts.enter_running, claim.fence, {})
    for index, calls in enumerate(((PLANNED, FOUND), (PLANNED, LOST))):
        decision = Decision(model_calls=calls, invalid="not found" if index else "")
        record = StepRecord(index=index, observation=Observation(index=index), decision=decision)
        installation.do(attempts.record_step, claim.fence, StepRow(record=record))
    rows = installation.do(model_part_rows, run_id)
    assert [(row.part, row.model, row.calls, row.failed, row.median_seconds) for row in rows] == [
        ("planner", "p", 2, 0, 2.0),
        ("grounder", "g", 2, 1, 1.0),
    ]
    assert [(row.input_tokens, row.usd, row.priced) for row in rows] == [(200, 0.5, True), (100, 0.25, False)]
    installation.do(attempts.enter_evaluating, claim.fence, EndedBy.DONE, {})
    installation.do(attempts.finish_scored, claim.fence, evaluation(0.0), [], {})

    address = f"/episodes/{claim.episode_id}"
    page = "".join(fresh.get(f"{address}/steps/{number}", headers=PAGE).text for number in (0, 1))
    assert (page.count('data-model-call="planner"'), page.count('data-model-call="grounder"')) == (2, 2)
    assert page.count('data-failure="no_point"') == 1
    assert "<i>Nowhere" not in page
    assert "<i>Nowhere" in html.unescape(page)
    assert 'data-failure="no_point"' in page
    (failure,) = fresh.get(f"/api/v1/runs/{run_id}/failure-sample").json()["episodes"]
    assert [(label["label"], label["step"]) for label in failure["suggested"]] == [
        ("grounding", 1),
        ("hallucinated", 1),
    ]
    run_page = fresh.get(f"/runs/{run_id}", headers=PAGE).text
    assert [part in run_page for part in ('data-part="planner"', 'data-part="grounder"')] == [True, True]
    is_exported(fresh, run_id)


FAILURES = [[None, None], [None, "no_point"]]


def read(client: TestClient, run: Any, form: str, ending: str, *, lines: bool = False) -> Any:
    """The one file with this ending in an export."""
    answer = client.get(f"/api/v1/runs/{run}/export?format={form}&pictures=false")
    with zipfile.ZipFile(io.BytesIO(answer.content)) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(ending)]
        text = archive.read(name).decode()
    return [json.loads(line) for line in text.splitlines()] if lines else json.loads(text)


def is_exported(client: TestClient, run_id: Any) -> None:
    """Calls by step in each format."""
    steps = [step for step in read(client, run_id, "atif", "trajectory.json")["steps"] if step["source"] == "agent"]
    assert [[call["failure"] for call in step["extra"]["model_calls"]] for step in steps] == FAILURES
    lines = read(client, run_id, "osworld", "traj.jsonl", lines=True)
    assert [[call["failure"] for call in line["model_calls"]] for line in lines] == FAILURES
    sample = read(client, run_id, "inspect", "_epoch_1.json")
    for event in sample["events"]:
        validator("inspect", "ModelEvent").validate(event)
    assert [(event["role"], event["model"], event["metadata"]["step"]) for event in sample["events"]] == [
        ("planner", "p", 0),
        ("grounder", "g", 0),
        ("planner", "p", 1),
        ("grounder", "g", 1),
    ]
    found, lost = sample["events"][1], sample["events"][3]
    assert found["input"] == [{"role": "user", "content": "Save"}]
    assert found["output"]["completion"] == "(1, 2)"
    assert (found["working_time"], found["output"]["usage"]["total_cost"]) == (0.5, USAGE.usd)
    assert (lost["metadata"]["failure"], "usage" in lost["output"]) == ("no_point", False)
    assert set(sample["model_usage"]) == {"p", "g"}


def test_a_run_without_parts_has_no_table(fresh: TestClient, installation: World) -> None:
    run_id = installation.submit(tasks=("files/a",)).id
    assert 'id="models"' not in fresh.get(f"/runs/{run_id}", headers=PAGE).text
