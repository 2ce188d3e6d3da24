"""All routers of the API."""

from backend.web import health_api
from backend.web.accounts import api as accounts_api
from backend.web.accounts import people_api, tokens_api
from backend.web.agents import api as agents_api
from backend.web.artifacts import api as artifacts_api
from backend.web.attempts import reevaluation_api
from backend.web.authoring import api as authoring_api
from backend.web.benchmarks import api as benchmarks_api
from backend.web.benchmarks import quarantine_api, web_assets_api
from backend.web.capacity import api as capacity_api
from backend.web.capacity import licences_api
from backend.web.configurations import api as configurations_api
from backend.web.deletions import api as deletions_api
from backend.web.export import api as export_api
from backend.web.export import runs_api as export_runs_api
from backend.web.export import videos_api as export_videos_api
from backend.web.judging import api as judging_api
from backend.web.monitoring import api as monitoring_api
from backend.web.monitoring import status_api
from backend.web.notifications import api as notifications_api
from backend.web.results import checkpoint_analyses_api, comparison_api, core_operations_api, cuts_api, failures_api
from backend.web.runs import api as runs_api
from backend.web.runs import budgets_api, comments_api, episodes_api, events_api, search_api
from backend.web.scheduling import api as scheduling_api
from backend.web.sharing import api as sharing_api
from backend.web.studies import api as studies_api
from backend.web.studies import offline_api
from backend.web.submissions import api as submissions_api

ROUTERS = (
    runs_api.router,
    events_api.router,
    configurations_api.router,
    studies_api.router,
    offline_api.router,
    judging_api.router,
    episodes_api.router,
    comments_api.router,
    search_api.router,
    failures_api.router,
    comparison_api.router,
    agents_api.router,
    reevaluation_api.router,
    artifacts_api.router,
    benchmarks_api.router,
    checkpoint_analyses_api.router,
    web_assets_api.router,
    quarantine_api.router,
    authoring_api.router,
    export_api.router,
    export_runs_api.router,
    export_videos_api.router,
    capacity_api.router,
    licences_api.router,
    accounts_api.router,
    people_api.router,
    tokens_api.router,
    submissions_api.router,
    core_operations_api.router,
    cuts_api.router,
    sharing_api.router,
    deletions_api.router,
    notifications_api.router,
    budgets_api.router,
    health_api.router,
    scheduling_api.router,
    monitoring_api.metrics_router,
    status_api.router,
)
