"""Works that people judge: the next pair, choices, ratings."""

from random import SystemRandom
from typing import Annotated

from fastapi import Path, Query, Response

from backend.db.models.enums import Preference
from backend.services.accounts.projects import LONGEST_NAME, person_or_local
from backend.services.submissions import pairwise_preferences as service
from backend.services.submissions import submissions
from backend.services.submissions.pairwise_preferences import Contestant, PreferenceBoard
from backend.web.api_common import Id, Name, api_router
from backend.web.dependencies import EdgeDep, ProjectDep, SessionDep
from backend.web.file_responses import guest_file
from backend.web.submissions import schemas

router = api_router("comparisons")
Person = Annotated[str, Query(max_length=LONGEST_NAME, description="Who judges; empty: `local`.")]


@router.get("/benchmarks/{name}/pairs/next")
def next_pair(session: SessionDep, project: ProjectDep, name: Name, person: Person = "") -> schemas.PairView | None:
    """The pair of works that a person judges next, on random sides; null when nothing is left."""
    pair = service.next_pair(session, name, person_or_local(session, project, person), SystemRandom())
    if pair is None:
        return None
    left, right = (
        schemas.WorkView(id=work.id, files=[f"/api/v1/works/{work.id}/files/{at}" for at in range(len(work.files))])
        for work in (pair.left, pair.right)
    )
    return schemas.PairView(
        task=pair.task.key,
        instruction=pair.task.instruction,
        left=left,
        right=right,
        judged=pair.judged,
        remaining=pair.remaining,
    )


@router.post("/choices", status_code=201)
def choose(session: SessionDep, project: ProjectDep, body: schemas.ChoiceBody) -> schemas.ChoiceView:
    """Store which of two submissions a person prefers; each person judges a pair once."""
    actor = person_or_local(session, project, body.person)
    service.choose(session, body.left, body.right, Preference(body.preferred), actor)
    return schemas.ChoiceView(left=body.left, right=body.right, preferred=body.preferred, person=actor.name)


@router.get("/works/{work_id}/files/{number}", response_class=Response)
def file(session: SessionDep, edge: EdgeDep, work_id: Id, number: Annotated[int, Path(ge=0, le=1000)]) -> Response:
    """The bytes of one of a work's files."""
    return guest_file(submissions.read_file(session, edge.store, work_id, number), f"work-{number + 1}")


@router.get("/benchmarks/{name}/works")
def ratings(session: SessionDep, name: Name) -> schemas.WorksBoard:
    """Ratings of all whose works were compared."""
    return view(service.board(session, name))


def view(board: PreferenceBoard) -> schemas.WorksBoard:
    """The leaderboard as in the API."""
    share = board.left_share
    return schemas.WorksBoard(
        benchmark=board.benchmark.name,
        version=board.task_set.version,
        tasks=board.tasks,
        choices=board.choices,
        people=board.people,
        left_share=None if share is None else share[0],
        left_interval=None if share is None else tuple(share[1]),
        warnings=list(board.warnings),
        contestants=[_contestant(row) for row in board.contestants],
    )


def _contestant(row: Contestant) -> schemas.ContestantView:
    rating = row.rating
    return schemas.ContestantView(
        name=row.name,
        mark=row.mark,
        works=row.works,
        tasks=row.tasks,
        group=None if rating is None else rating.group,
        points=None if rating is None else rating.points,
        interval=None if rating is None else tuple(rating.interval),
        wins=0 if rating is None else int(rating.wins),
        losses=0 if rating is None else int(rating.losses),
        ties=0 if rating is None else int(rating.ties),
        preferred_to_expert=row.beside_expert,
    )
