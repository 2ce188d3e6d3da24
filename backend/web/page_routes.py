"""All page routers."""

from backend.web import api_reference_page, components_page
from backend.web.accounts import login_page, open_id_page
from backend.web.accounts import pages as accounts_pages
from backend.web.authoring import pages as authoring_pages
from backend.web.benchmarks import pages as benchmarks_pages
from backend.web.benchmarks import published, task_page
from backend.web.capacity import pages as capacity_pages
from backend.web.configurations import pages as configurations_pages
from backend.web.deletions import pages as deletions_pages
from backend.web.export import pages as export_pages
from backend.web.judging import pages as judging_pages
from backend.web.monitoring import pages as monitoring_pages
from backend.web.notifications import pages as notifications_pages
from backend.web.people import pages as people_pages
from backend.web.results import (
    checkpoint_analyses_page,
    comparison_page,
    core_operations_page,
    cuts_page,
    episode_pair_page,
    failure_breakdown_page,
    failures_page,
    leaderboard_page,
)
from backend.web.runs import budgets_page, episode_page, home_page, new_run_page, progress_page, wall_page
from backend.web.runs import pages as runs_pages
from backend.web.sharing import badges, public_pages
from backend.web.sharing import pages as sharing_pages
from backend.web.studies import new_offline_study_page, new_study_page, offline_pages
from backend.web.studies import pages as studies_pages
from backend.web.submissions import pages as submissions_pages

MODULES = (
    home_page,
    wall_page,
    new_run_page,
    people_pages,
    failures_page,
    progress_page,
    runs_pages,
    configurations_pages,
    new_study_page,  # Before the studies, whose addresses have the same prefix.
    new_offline_study_page,
    offline_pages,  # Before the studies, too.
    studies_pages,
    judging_pages,
    export_pages,
    episode_page,
    benchmarks_pages,
    published,
    checkpoint_analyses_page,
    authoring_pages,  # Before tasks, whose addresses have the same prefix.
    task_page,
    submissions_pages,  # Before the leaderboards, whose addresses end in any dimension's name; so is the next one.
    core_operations_page,
    cuts_page,
    leaderboard_page,
    sharing_pages,
    public_pages,
    badges,
    comparison_page,
    episode_pair_page,
    failure_breakdown_page,
    capacity_pages,
    api_reference_page,
    components_page,
    login_page,
    open_id_page,
    accounts_pages,
    deletions_pages,
    monitoring_pages,
    notifications_pages,
    budgets_page,
)
ROUTERS = tuple(module.router for module in MODULES)
