"""Required role of every route. A route that changes something and is not listed here is refused.

`tests/integration/web/accounts/test_permissions.py` walks every route with every role.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from backend.addresses import API
from backend.db.models.enums import Role
from backend.domain.errors import NotAllowed
from backend.web.security_middleware import is_open


@dataclass(frozen=True)
class Need:
    """Requirement of a route: a role in the project, or to administer the installation. Neither: no role."""

    role: Role | None = None
    admin: bool = False


SIGNED_IN, VIEWER, RUNNER = Need(), Need(Role.VIEWER), Need(Role.RUNNER)
REVIEWER, MAINTAINER = Need(Role.REVIEWER), Need(Role.MAINTAINER)
PROJECT_ADMIN, ADMIN = Need(Role.ADMIN), Need(admin=True)
_READS = frozenset({"GET", "HEAD"})


def _below(prefix: str, text: str) -> list[str]:
    return [f"{method} {prefix}{path}" for method, path in (line.split() for line in text.strip().splitlines())]


_OWN = [
    "GET /account",
    "POST /account/password",
    "POST /account/project",
    "POST /account/sessions/{session_id}/end",
    "POST /account/tokens",
    "POST /account/tokens/{token_id}/revoke",
    "POST /logout",
    f"GET {API}/tokens",
    f"POST {API}/tokens",
    f"DELETE {API}/tokens/{{token_id}}",
    f"GET {API}/account/sessions",
    f"DELETE {API}/account/sessions/{{session_id}}",
]
_VIEWERS = [
    "POST /tasks/drafts/you",
    f"POST {API}/stream-tickets",
    f"POST {API}/runs/estimate",
    f"POST {API}/runs/forecast",
]
_RUNNERS = [
    "WS /ws/attempts/{attempt_id}/control",
    *_below(
        API,
        """
        POST /runs
        POST /runs/import
        PATCH /runs/{run_id}
        POST /runs/{run_id}/pause
        POST /runs/{run_id}/resume
        POST /runs/{run_id}/cancel
        POST /runs/{run_id}/close
        POST /runs/{run_id}/retry
        POST /runs/{run_id}/episodes
        POST /runs/{run_id}/rescore
        POST /episodes/{episode_id}/rescore
        POST /episodes/{episode_id}/agent-token
        POST /attempts/{attempt_id}/video
        POST /studies
        POST /demonstrations
        POST /demonstrations/from-run
        POST /offline-studies
        POST /offline-studies/{study_id}/cancel
        POST /offline-studies/{study_id}/retry
        POST /benchmarks/{name}/validate
        POST /drafts
        PUT /drafts/{draft_id}
        POST /drafts/{draft_id}/files
        POST /drafts/{draft_id}/trials
        POST /drafts/{draft_id}/submit
        POST /drafts/{draft_id}/recordings
        POST /drafts/{draft_id}/recordings/{recording_id}/apply
        POST /draft-requests
        POST /saved-views
        PATCH /saved-views/{view_id}
        DELETE /saved-views/{view_id}
        """,
    ),
    *_below(
        "",
        """
        POST /runs/new
        POST /runs/{run_id}/human/{episode_id}/begin
        POST /runs/{run_id}/human/{episode_id}/rate
        POST /runs/{run_id}/human/{episode_id}/on
        POST /runs/{run_id}/human/{episode_id}/again
        POST /runs/{run_id}/scheduling
        POST /runs/{run_id}/{move}
        POST /episodes/{episode_id}/rescore
        POST /episodes/{episode_id}/video
        POST /studies/new
        POST /studies/offline/new
        POST /studies/offline/{study_id}/cancel
        POST /studies/offline/{study_id}/retry
        POST /demonstrations
        POST /demonstrations/from-run
        POST /tasks/drafts
        POST /tasks/drafts/{draft_id}/edit/{part}
        POST /tasks/drafts/{draft_id}/files
        POST /tasks/drafts/{draft_id}/{do}
        POST /tasks/drafts/{draft_id}/recordings/{recording_id}/apply
        POST /leaderboards/{benchmark}/views
        POST /leaderboards/{benchmark}/views/{view_id}
        POST /leaderboards/{benchmark}/views/{view_id}/delete
        """,
    ),
]
_REVIEWERS = [
    *_below(
        API,
        """
        POST /judges/{judge_id}/sample
        POST /judges/{judge_id}/review
        PUT /episodes/{episode_id}/failure-labels
        POST /episodes/{episode_id}/comments
        DELETE /episodes/{episode_id}/comments/{comment_id}
        POST /benchmarks/{name}/labels/people
        POST /benchmarks/{name}/labels/solve-rates
        POST /tasks/{task_id}/quarantine
        POST /tasks/{task_id}/quarantine/lift
        POST /drafts/{draft_id}/approve
        POST /drafts/{draft_id}/reject
        POST /preferences
        """,
    ),
    *_below(
        "",
        """
        POST /judges/{judge_id}/sample
        POST /judges/{judge_id}/review
        POST /episodes/{episode_id}/failures
        POST /episodes/{episode_id}/comments
        POST /episodes/{episode_id}/comments/{comment_id}/delete
        POST /leaderboards/{benchmark}/labels
        POST /leaderboards/{benchmark}/labels/solve-rates
        POST /tasks/{task_id}/quarantine
        POST /tasks/{task_id}/quarantine/lift
        POST /compare/pairs
        """,
    ),
]
_MAINTAINERS = [
    *_below(
        API,
        """
        POST /benchmarks
        POST /benchmarks/from-url
        POST /benchmarks/{name}/labels
        POST /benchmarks/{name}/assets
        POST /benchmarks/{name}/assets/fetch
        POST /drafts/publish
        PATCH /configurations/{configuration_id}
        POST /leaderboards/{benchmark}/label-pairs
        DELETE /leaderboards/{benchmark}/label-pairs
        POST /public-links
        DELETE /public-links/{link_id}
        DELETE /runs/{run_id}
        DELETE /studies/{study_id}
        DELETE /configurations/{configuration_id}
        DELETE /drafts/{draft_id}
        DELETE /benchmarks/{name}
        PATCH /retention
        GET /subscriptions
        POST /subscriptions
        GET /subscriptions/{subscription_id}
        PATCH /subscriptions/{subscription_id}
        DELETE /subscriptions/{subscription_id}
        POST /subscriptions/{subscription_id}/rotate-secret
        POST /subscriptions/{subscription_id}/test
        GET /deliveries
        GET /deliveries/{delivery_id}
        POST /deliveries/{delivery_id}/redeliver
        """,
    ),
    *_below(
        "",
        """
        POST /configurations/{configuration_id}/name
        POST /tasks/drafts/publish
        POST /leaderboards/{benchmark}/label-pairs
        POST /leaderboards/{benchmark}/label-pairs/remove
        POST /leaderboards/{benchmark}/links
        POST /leaderboards/{benchmark}/links/{link_id}/revoke
        POST /deletions/{kind}/{target}
        POST /retention
        GET /notifications
        POST /notifications
        GET /notifications/{subscription_id}
        POST /notifications/{subscription_id}
        POST /notifications/{subscription_id}/{action}
        POST /notifications/deliveries/{delivery_id}/redeliver
        """,
    ),
]
_PROJECT_ADMINS = [
    f"GET {API}/trust-rules",
    f"POST {API}/trust-rules",
    f"DELETE {API}/trust-rules/{{rule_id}}",
    "POST /account/trust-rules",
    "POST /account/trust-rules/{rule_id}/revoke",
]
_ADMINS = [
    *_below(
        API,
        """
        POST /licences
        PATCH /projects/{name}
        PATCH /budgets/{period}
        POST /projects
        GET /people
        POST /people
        PATCH /people/{name}
        POST /people/{name}/link
        GET /audit-log
        GET /signals
        POST /workers/{worker_id}/drain
        POST /workers/{worker_id}/resume
        PUT /maintenance
        DELETE /maintenance
        """,
    ),
    *_below(
        "",
        """
        POST /maintenance
        POST /workers/projects
        POST /workers/{worker_id}/{move}
        POST /budgets
        POST /workers/licences
        GET /people
        POST /people
        POST /people/{name}
        POST /people/{name}/link
        POST /people/projects
        GET /audit-log
        GET /audit-log.csv
        GET /metrics
        """,
    ),
]
NEEDS: Mapping[str, Need] = {
    route: need
    for need, routes in (
        (SIGNED_IN, _OWN),
        (VIEWER, _VIEWERS),
        (RUNNER, _RUNNERS),
        (REVIEWER, _REVIEWERS),
        (MAINTAINER, _MAINTAINERS),
        (PROJECT_ADMIN, _PROJECT_ADMINS),
        (ADMIN, _ADMINS),
    )
    for route in routes
}
"""By method and path. Reading needs the role of a viewer, unless it is listed."""


def need_of(method: str, path: str) -> Need:
    """Requirement of a route.

    Raises:
        NotAllowed: it changes something, and nobody has decided who may.
    """
    if is_open(path):
        return SIGNED_IN
    need = NEEDS.get(f"{'GET' if method in _READS else method} {path}")
    if need is None and method not in {*_READS, "WS"}:
        raise NotAllowed(f"no role may do this: {method} {path} has no role", code="role_undecided")
    return need or VIEWER
