"""A request's span, the run that it submits, and the claim of its episodes."""

from uuid import UUID

from fastapi.testclient import TestClient
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.trace import SpanKind

from backend.db.models import Attempt
from backend.services.runs import runs
from backend.services.scheduling.claim_types import episode_trace_id
from tests.factories.records import World
from tests.fakes.traces import traces_in_memory

CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def submit(client: TestClient, **more: object) -> str:
    body = {"benchmark": "starter", "agent": "oracle", **more}
    answer = client.post("/api/v1/runs", json=body, headers={"traceparent": CALLER, "X-Request-ID": "ci-7"})
    assert answer.status_code == 201, answer.text
    return str(answer.json()["id"])


def by_name(spans: tuple[ReadableSpan, ...]) -> dict[str, ReadableSpan]:
    return {span.name: span for span in spans}


def claimed(made: World) -> Attempt:
    claim = made.must_claim(made.worker())
    with made.work() as session:
        return session.get_one(Attempt, claim.attempt_id)


def test_a_claim_continues_the_trace_of_its_submission(fresh: TestClient, installation: World) -> None:
    with traces_in_memory() as exporter:
        run_id = submit(fresh)
        attempt = claimed(installation)
        fresh.get("/livez")
    spans = by_name(exporter.get_finished_spans())
    assert "GET /livez" not in spans
    request, submission, claim = (spans[name] for name in ("POST /api/v1/runs", "submit run", "claim episode"))
    assert request.parent is None
    assert request.kind is SpanKind.SERVER
    assert [f"{link.context.trace_id:032x}" in CALLER for link in request.links] == [True]
    assert f"{request.context.trace_id:032x}" not in CALLER
    facts = dict(request.attributes or {})
    assert (facts["http.route"], facts["http.response.status_code"], facts["deskarena.request.id"]) == (
        "/api/v1/runs",
        201,
        "ci-7",
    )
    assert submission.parent is not None
    assert claim.parent is not None
    assert submission.parent.span_id == request.context.span_id
    assert claim.parent.span_id == claim.links[0].context.span_id == submission.context.span_id
    assert dict(claim.attributes or {})["deskarena.attempt.id"] == str(attempt.id)
    trace_id = f"{request.context.trace_id:032x}"
    run = fresh.get(f"/api/v1/runs/{run_id}").json()
    episode = fresh.get(f"/api/v1/episodes/{attempt.episode_id}").json()
    assert run["trace_id"] == episode["trace_id"] == trace_id
    for page in (f"/runs/{run_id}", f"/episodes/{attempt.episode_id}"):
        assert trace_id in fresh.get(page).text
    edge = fresh.app.state.edge  # type: ignore[attr-defined]
    edge.settings = edge.settings.model_copy(update={"trace_url": "https://tracing.example/t/{trace_id}?a=1&b=2"})
    link = f'href="https://tracing.example/t/{trace_id}?a=1&amp;b=2"'
    for page in (f"/runs/{run_id}", f"/episodes/{attempt.episode_id}"):
        assert link in fresh.get(page).text


def test_episodes_of_a_large_run_have_traces_of_their_own(fresh: TestClient, installation: World) -> None:
    with traces_in_memory() as exporter:
        submit(fresh, repeats=runs.MOST_IN_ONE_TRACE)
        attempt = claimed(installation)
    spans = by_name(exporter.get_finished_spans())
    claim = spans["claim episode"]
    assert claim.parent is None
    assert claim.context.trace_id == episode_trace_id(attempt.episode_id)
    assert claim.links[0].context.span_id == spans["submit run"].context.span_id


def test_no_trace_is_shown_without_tracing(fresh: TestClient, installation: World) -> None:
    run_id = submit(fresh)
    attempt = claimed(installation)
    assert attempt.trace_parent is None
    assert fresh.get(f"/api/v1/runs/{run_id}").json()["trace_id"] is None
    assert "<dt>Trace</dt>" not in fresh.get(f"/runs/{run_id}").text
    assert UUID(run_id)
