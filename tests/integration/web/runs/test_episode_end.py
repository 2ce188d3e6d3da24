"""The evidence of a desktop that its agent ended, on the episode's page."""

import html
import re

from fastapi.testclient import TestClient

from backend.domain.model.episode import EndedBy
from backend.domain.model.trajectory import (
    Action,
    ActionType,
    Decision,
    GuestCall,
    Observation,
    SafetyCheck,
    StepRecord,
)
from backend.services.attempts import attempts
from backend.services.attempts.attempts import StepRow
from tests.factories.records import World, evaluation

PAGE = {"Accept": "text/html"}
END = {"cause": "process_limit", "text": "<b>last words</b>", "facts": {"processes": 7, "exit_status": 1}}


def test_the_evidence_is_shown_and_escaped(fresh: TestClient, installation: World) -> None:
    installation.submit(tasks=("files/a",))
    claim = installation.must_claim(installation.worker())
    installation.do(attempts.enter_running, claim.fence, {})
    installation.do(attempts.note_desktop_end, claim.fence, END)
    installation.do(attempts.enter_evaluating, claim.fence, EndedBy.AGENT_ERROR, {})
    installation.do(attempts.finish_scored, claim.fence, evaluation(0.0), [], {})
    page = fresh.get(f"/episodes/{claim.episode_id}", headers=PAGE).text
    (line,) = [part for part in page.split("<li") if 'data-desktop-end="process_limit"' in part]
    assert "<b>" not in line.partition("</li>")[0]
    shown = html.unescape(line)
    assert "<b>last words</b>" in shown
    assert "processes 7; exit status 1" in shown
    episode = fresh.get(f"/api/v1/episodes/{claim.episode_id}").json()
    assert (episode["ended_by"], episode["score"], episode["flagged"]) == ("agent_error", 0.0, False)


def test_failed_code_and_a_safety_check_are_marked(fresh: TestClient, installation: World) -> None:
    run_id = installation.submit(tasks=("files/a",)).id
    claim = installation.must_claim(installation.worker())
    installation.do(attempts.enter_running, claim.fence, {})
    check = SafetyCheck(code="malicious_instructions", message="<i>The page</i> gives instructions.")
    results = (
        {"returncode": 1, "output": "", "error": "x\n<b>NameError"},
        {"error": "no key <x1>", "kind": "unknown_key"},
    )
    record = StepRecord(
        index=0, observation=Observation(index=0), decision=Decision(safety_checks=(check,)), results=results
    )
    installation.do(attempts.record_step, claim.fence, StepRow(record=record))
    installation.do(attempts.enter_evaluating, claim.fence, EndedBy.SAFETY_CHECK, {})
    installation.do(attempts.finish_scored, claim.fence, evaluation(0.0), [], {})
    page = fresh.get(f"/episodes/{claim.episode_id}", headers=PAGE).text
    assert (page.count("data-code-failed"), page.count('data-safety-check="open"')) == (1, 1)
    assert not re.search("<i>The page|<b>NameError|<x1>", page)
    assert ("code failed: &lt;b&gt;NameError" in page, "not carried out: no key &lt;x1&gt;" in page) == (True, True)
    assert "data-failed-code" in fresh.get(f"/runs/{run_id}", headers=PAGE).text
    assert fresh.get(f"/api/v1/episodes/{claim.episode_id}").json()["ended_by"] == "safety_check"


def test_scripts_and_files_are_steps_with_their_results(fresh: TestClient, installation: World) -> None:
    run_id = installation.submit(tasks=("files/a",)).id
    claim = installation.must_claim(installation.worker())
    installation.do(attempts.enter_running, claim.fence, {})
    script = Action(type=ActionType.SCRIPT, text="ls <notes>", guest=GuestCall(language="bash", path="~"))
    read = Action(type=ActionType.READ_FILE, guest=GuestCall(path="/home/user/plan.txt"))
    results = ({"returncode": 0, "output": "<b>plan.txt", "error": ""}, {"size": 4, "data": "cGxhbg=="})
    decision = Decision(actions=(script, read))
    record = StepRecord(index=0, observation=Observation(index=0), decision=decision, results=results)
    installation.do(attempts.record_step, claim.fence, StepRow(record=record))
    page = fresh.get(f"/episodes/{claim.episode_id}", headers=PAGE).text
    assert not re.search("<notes>|<b>plan", page)
    assert all(text in page for text in ("ls &lt;notes&gt;", "&lt;b&gt;plan.txt", "/home/user/plan.txt"))
    assert "data-guest-calls" in fresh.get(f"/runs/{run_id}", headers=PAGE).text
