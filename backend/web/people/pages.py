"""`/runs/{id}/human`: a person's tasks, one after the other, by the protocol of docs/human.md."""

from typing import Annotated, Literal

from fastapi import Form, Request
from fastapi.responses import HTMLResponse, RedirectResponse

from backend.services.people import human_agent, human_baselines
from backend.services.people.human_baselines import LabelBasis
from backend.web.dependencies import ActorDep, ProjectDep, SessionDep
from backend.web.page_common import Id, page_router, redirect
from backend.web.templating import render

router = page_router()


@router.get("/runs/{run_id}/human")
def desk(request: Request, session: SessionDep, run_id: Id) -> HTMLResponse:
    """The next task, the rating of the last one, or the final results."""
    values = {"desk": human_agent.desk(session, run_id), "Next": human_agent.NextAction, "ratings": human_agent.RATINGS}
    return render(request, "human.html", values)


@router.post("/runs/{run_id}/human/{episode_id}/begin")
def begin(
    session: SessionDep, run_id: Id, episode_id: Id, feasible: Annotated[Literal["yes", "no"], Form()]
) -> RedirectResponse:
    """Stores the feasibility answer, then shows the desktop."""
    human_agent.begin(session, run_id, episode_id, feasible=feasible == "yes")
    return redirect(f"/episodes/{episode_id}")


@router.post("/runs/{run_id}/human/{episode_id}/rate")
def rate(session: SessionDep, run_id: Id, episode_id: Id, rating: Annotated[int, Form(ge=1, le=3)]) -> RedirectResponse:
    """Stores the difficulty."""
    human_agent.rate(session, run_id, episode_id, rating)
    return redirect(f"/runs/{run_id}/human")


@router.post("/runs/{run_id}/human/{episode_id}/on")
def go_on(session: SessionDep, run_id: Id, episode_id: Id) -> RedirectResponse:
    human_agent.go_on(session, run_id, episode_id)
    return redirect(f"/runs/{run_id}/human")


@router.post("/runs/{run_id}/human/{episode_id}/again")
def again(session: SessionDep, project: ProjectDep, actor: ActorDep, run_id: Id, episode_id: Id) -> RedirectResponse:
    """Starts a second try to count steps."""
    second = human_agent.try_again(session, run_id, episode_id, project=project, actor=actor)
    return redirect(f"/episodes/{second.id}")


@router.post("/leaderboards/{benchmark}/labels")
def label(session: SessionDep, benchmark: str, by: Annotated[LabelBasis, Form()] = LabelBasis.TIME) -> RedirectResponse:
    """Stores people's results as labels of the tasks."""
    human_baselines.label_tasks(session, benchmark, by)
    return redirect(f"/leaderboards/{benchmark}#people")
