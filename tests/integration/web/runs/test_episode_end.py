"""The evidence of a desktop that its agent ended, on the episode's page."""

import html

from fastapi.testclient import TestClient

from backend.domain.model.episode import EndedBy
from backend.services.attempts import attempts
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
