"""A request for every route that changes something of a project, naming things of the installation in `params`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

from fastapi.testclient import TestClient

from tests.factories.drafts import make_content

FILE = {"file": ("x.txt", b"text", "text/plain")}
ABSENT = "018f0000-0000-7000-8000-000000000000"
OUTSIDE = {"agent": {"name": "outside"}, "episodes": []}
CONTENT = make_content().model_dump(mode="json")
DRAFT, RUN = "/api/v1/drafts/{draft_id}", "/api/v1/runs/{run_id}"


@dataclass(frozen=True)
class Write:
    """A request.

    Attributes:
        values: of the path's parameters: the name of one of the installation, or itself after `=`.
        query: of its address.
        json, form, files: its body.
        refused: the answer to somebody of another project, to whom nothing that it names exists.
        kept: the answer to its own people may be 404, too: nothing of that kind was made.
    """

    values: Mapping[str, str] = field(default_factory=dict)
    query: str = ""
    json: Any = None
    form: Mapping[str, str] | None = None
    files: Mapping[str, Any] | None = None
    refused: tuple[int, ...] = (404,)
    kept: bool = False


WRITES: Mapping[str, Write] = {
    "PATCH /api/v1/configurations/{configuration_id}": Write(json={"name": "mine"}),
    "PATCH /api/v1/runs/{run_id}": Write(json={"priority": 3}),
    "PATCH /api/v1/saved-views/{view_id}": Write(json={"name": "mine"}),
    "POST /api/v1/attempts/{attempt_id}/video": Write(),
    "POST /api/v1/benchmarks/{name}/assets": Write(form={"url": "https://example.org/x"}, files=FILE, kept=True),
    "POST /api/v1/benchmarks/{name}/assets/fetch": Write(json={"url": "https://example.org/x"}, kept=True),
    "POST /api/v1/benchmarks/{name}/labels": Write(files={"file": ("x.csv", b"task,difficulty\n", "text/csv")}),
    "POST /api/v1/benchmarks/{name}/labels/people": Write(),
    "POST /api/v1/benchmarks/{name}/labels/solve-rates": Write(),
    "POST /api/v1/benchmarks/{name}/validate": Write(),
    "POST /api/v1/demonstrations/from-run": Write(json={"name": "mine", "run": "{run_id}"}),
    f"PUT {DRAFT}": Write(json={"content": CONTENT, "by": "bob"}),
    f"POST {DRAFT}/approve": Write(json={"version": 1, "by": "bob"}),
    f"POST {DRAFT}/reject": Write(json={"version": 1, "reason": "unavailable", "by": "bob"}),
    f"POST {DRAFT}/files": Write(form={"name": "x.txt"}, files=FILE),
    f"POST {DRAFT}/submit": Write(json={}),
    f"POST {DRAFT}/trials": Write(json={}),
    f"POST {DRAFT}/recordings": Write(json={"kind": "setup"}),
    f"POST {DRAFT}/recordings/{{recording_id}}/apply": Write({"recording_id": "=" + ABSENT}, json={}, kept=True),
    "POST /api/v1/drafts/publish": Write(json={"benchmark": "mine", "drafts": ["{draft_id}"]}, refused=(404, 409, 422)),
    "POST /api/v1/episodes/{episode_id}/agent-token": Write(),
    "POST /api/v1/episodes/{episode_id}/rescore": Write(json={}),
    "PUT /api/v1/episodes/{episode_id}/failure-labels": Write(
        {"episode_id": "failed"}, json={"person": "bob", "labels": ["grounding"]}
    ),
    "POST /api/v1/episodes/{episode_id}/comments": Write(json={"person": "bob", "text": "stuck"}),
    "DELETE /api/v1/episodes/{episode_id}/comments/{comment_id}": Write(
        {"comment_id": "=" + ABSENT}, query="?person=bob", kept=True
    ),
    "POST /api/v1/judges/{judge_id}/review": Write(json={"by": "bob", "item": ABSENT, "verdicts": {}}, kept=True),
    "POST /api/v1/judges/{judge_id}/sample": Write(json={}),
    "POST /api/v1/leaderboards/{benchmark}/label-pairs": Write(json={"label": "domain", "by": "difficulty"}),
    "POST /api/v1/offline-studies": Write(json={"demonstrations": "buttons", "base": {"agent": "random", "seed": 2}}),
    "POST /api/v1/offline-studies/{study_id}/cancel": Write({"study_id": "offline_study_id"}),
    "POST /api/v1/offline-studies/{study_id}/retry": Write({"study_id": "offline_study_id"}),
    "POST /api/v1/preferences": Write(json={"left": "{work_id}", "right": "{other_work}", "preferred": "left"}),
    "POST /api/v1/public-links": Write(json={"benchmark": "starter"}),
    "POST /api/v1/runs": Write(json={"benchmark": "starter", "agent": "noop"}),
    "POST /api/v1/runs/estimate": Write(json={"benchmark": "starter", "agent": "noop"}),
    "POST /api/v1/runs/forecast": Write(json={"benchmark": "starter", "agent": "noop"}),
    "POST /api/v1/runs/import": Write(json={"benchmark": "starter", "results": OUTSIDE}, refused=(404, 422)),
    f"POST {RUN}/episodes": Write(json={"tasks": ["*"]}),
    f"POST {RUN}/rescore": Write(json={}),
    f"POST {RUN}/retry": Write(json={}),
    f"POST {RUN}/pause": Write(),
    f"POST {RUN}/resume": Write(),
    f"POST {RUN}/close": Write(),
    f"POST {RUN}/cancel": Write(),
    "POST /api/v1/saved-views": Write(json={"benchmark": "starter", "name": "mine"}),
    "POST /api/v1/studies": Write(
        json={"base": {"benchmark": "starter", "agent": "noop"}, "factors": {"agent": ["noop", "random"]}}
    ),
    "POST /api/v1/tasks/{task_id}/quarantine": Write(json={"reason": "broken"}),
    "POST /api/v1/tasks/{task_id}/quarantine/lift": Write(json={"reason": "mended"}),
    "POST /api/v1/draft-requests": Write(
        json={"persona": "clerk", "endpoint": "x", "model": "y", "benchmark": "starter"}, refused=(404, 422)
    ),
    "POST /compare/pairs": Write(
        form={"left": "{work_id}", "right": "{other_work}", "preferred": "left", "benchmark": "creative"}
    ),
    "POST /configurations/{configuration_id}/name": Write(form={"name": "mine"}),
    "POST /demonstrations/from-run": Write(form={"run": "{run_id}", "name": "mine"}, refused=(404, 422)),
    "POST /episodes/{episode_id}/comments": Write(form={"text": "stuck"}),
    "POST /episodes/{episode_id}/comments/{comment_id}/delete": Write({"comment_id": "=" + ABSENT}, kept=True),
    "POST /episodes/{episode_id}/failures": Write({"episode_id": "failed"}, form={"person": "bob"}),
    "POST /episodes/{episode_id}/rescore": Write(form={}),
    "POST /episodes/{episode_id}/video": Write(),
    "POST /judges/{judge_id}/review": Write(form={"as": "bob", "item": ABSENT}, kept=True),
    "POST /judges/{judge_id}/sample": Write(form={"size": "1", "seed": "1"}),
    "POST /leaderboards/{benchmark}/label-pairs": Write(form={"label": "domain", "by": "difficulty"}),
    "POST /leaderboards/{benchmark}/label-pairs/remove": Write(form={"label": "domain", "by": "difficulty"}),
    "POST /leaderboards/{benchmark}/labels": Write(form={"by": "time"}),
    "POST /leaderboards/{benchmark}/labels/solve-rates": Write(),
    "POST /leaderboards/{benchmark}/links": Write(form={"title": "mine"}),
    "POST /leaderboards/{benchmark}/views": Write(form={"name": "mine too"}),
    "POST /leaderboards/{benchmark}/views/{view_id}": Write(form={"name": "mine as well"}),
    "POST /runs/new": Write(form={"benchmark": "starter", "agent": "noop"}, refused=(404, 422)),
    "POST /runs/{run_id}/human/{episode_id}/begin": Write(
        {"run_id": "human", "episode_id": "by_hand"}, form={"feasible": "yes"}
    ),
    "POST /runs/{run_id}/human/{episode_id}/rate": Write(
        {"run_id": "human", "episode_id": "by_hand"}, form={"rating": "2"}
    ),
    "POST /runs/{run_id}/human/{episode_id}/on": Write({"run_id": "human", "episode_id": "by_hand"}),
    "POST /runs/{run_id}/human/{episode_id}/again": Write({"run_id": "human", "episode_id": "by_hand"}),
    "POST /runs/{run_id}/scheduling": Write(form={"priority": "3", "shown_priority": "0"}),
    "POST /runs/{run_id}/{move}": Write({"move": "=pause"}),
    "POST /studies/new": Write(form={"benchmark": "starter", "agent": "noop"}, refused=(404, 422)),
    "POST /studies/offline/new": Write(form={"demonstrations": "buttons", "agent": "random"}, refused=(404, 422)),
    "POST /studies/offline/{study_id}/cancel": Write({"study_id": "offline_study_id"}),
    "POST /studies/offline/{study_id}/retry": Write({"study_id": "offline_study_id"}),
    "POST /tasks/drafts/publish": Write(form={"benchmark": "starter"}, refused=(404, 409, 422)),
    "POST /tasks/drafts/{draft_id}/edit/{part}": Write({"part": "=basics"}, form={"name": "mine", "domain": "files"}),
    "POST /tasks/drafts/{draft_id}/files": Write(form={"name": "y.txt"}, files=FILE),
    "POST /tasks/drafts/{draft_id}/recordings/{recording_id}/apply": Write({"recording_id": "=" + ABSENT}, kept=True),
    "POST /tasks/drafts/{draft_id}/{do}": Write({"do": "=submit"}, form={}),
    "POST /tasks/{task_id}/quarantine": Write(form={"reason": "broken"}),
    "POST /tasks/{task_id}/quarantine/lift": Write(form={"reason": "mended"}),
    "PATCH /api/v1/subscriptions/{subscription_id}": Write(json={"alpha": 0.1}),
    "POST /api/v1/subscriptions/{subscription_id}/rotate-secret": Write(),
    "POST /api/v1/subscriptions/{subscription_id}/test": Write(),
    "POST /api/v1/deliveries/{delivery_id}/redeliver": Write(),
    "POST /notifications/{subscription_id}": Write(form={"events": "run.ended", "if_match": "*"}),
    "POST /notifications/{subscription_id}/{action}": Write({"action": "=test"}),
    "POST /notifications/deliveries/{delivery_id}/redeliver": Write(),
    # What they end is gone for those above.
    "DELETE /api/v1/subscriptions/{subscription_id}": Write(),
    "DELETE /api/v1/leaderboards/{benchmark}/label-pairs": Write(query="?label=domain&by=difficulty"),
    "POST /leaderboards/{benchmark}/links/{link_id}/revoke": Write(),
    "DELETE /api/v1/public-links/{link_id}": Write(),
    "POST /leaderboards/{benchmark}/views/{view_id}/delete": Write(
        refused=(303,)
    ),  # Safe to repeat, like the next one.
    "DELETE /api/v1/saved-views/{view_id}": Write(refused=(204,)),
    "DELETE /api/v1/drafts/{draft_id}": Write(),
    "DELETE /api/v1/studies/{study_id}": Write(),
    "DELETE /api/v1/runs/{run_id}": Write(),
    "POST /deletions/{kind}/{target}": Write({"kind": "=run", "target": "human"}, kept=True),
    "DELETE /api/v1/configurations/{configuration_id}": Write(kept=True),
    "DELETE /api/v1/benchmarks/{name}": Write(kept=True),
}
"""By method and path, in the order in which they can be sent."""
NAMES_NOTHING = {
    "PATCH /api/v1/budgets/{period}",
    "POST /budgets",
    "PATCH /api/v1/retention",
    "POST /retention",
    "POST /api/v1/subscriptions",
    "POST /notifications",
    "POST /api/v1/benchmarks",
    "POST /api/v1/benchmarks/from-url",
    "POST /api/v1/demonstrations",
    "POST /api/v1/drafts",
    "POST /demonstrations",
    "POST /tasks/drafts",
    "POST /tasks/drafts/you",
}
"""Routes that make something of their own project and name nothing that exists."""
OWN_ACCOUNT = (
    "/account",
    "/api/v1/account",
    "/api/v1/stream-tickets",
    "/api/v1/tokens",
    "/api/v1/trust-rules",
    "/logout",
    "/people",
    "/api/v1/people",
    "/api/v1/projects",
)
INSTALLATION = ("/workers", "/maintenance", "/api/v1/licences", "/api/v1/maintenance", "/api/v1/workers")
"""Beginnings of routes about people and the installation; `test_permissions.py` and its neighbours have them."""


def send(browser: TestClient, route: str, params: Mapping[str, Any]) -> Any:
    """The answer to a route's request, with the installation's ids in `params`."""
    write, (method, path) = WRITES[route], route.split()
    own = {name: value[1:] if value.startswith("=") else params[value] for name, value in write.values.items()}
    return browser.request(
        method,
        path.format(**{**params, **own}) + write.query,
        json=_filled(write.json, params),
        data=_filled(write.form, params),
        files=write.files,
        headers={"If-Match": "*"},  # Of whatever state.
    )


def _filled(body: Any, params: Mapping[str, Any]) -> Any:
    """The body with the ids that its texts name as `{name}`."""
    if isinstance(body, dict):
        return {name: _filled(value, params) for name, value in body.items()}
    if isinstance(body, list):
        return [_filled(value, params) for value in body]
    if isinstance(body, str) and body.startswith("{") and body.endswith("}"):
        value = params[body[1:-1]]
        return str(value) if isinstance(value, UUID) else value
    return body
