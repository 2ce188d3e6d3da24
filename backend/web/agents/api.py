"""External agents: they act in one episode with its token. Async; holds no session while waiting."""

import base64
from collections.abc import Awaitable, Callable
from contextlib import AbstractContextManager
from typing import Annotated

from fastapi import Depends, Query, Request, Response
from sqlalchemy.orm import Session

from backend.addresses import API
from backend.db.session import SessionFactory, read_only, unit_of_work
from backend.domain.errors import Invalid
from backend.services.agents import agent_channel, agent_tokens
from backend.services.agents.agent_channel_store import StoredObservation
from backend.services.agents.agent_tokens import Pass
from backend.web.agents import schemas
from backend.web.api_common import Id, api_router
from backend.web.artifacts.api import SHOWN
from backend.web.dependencies import ActorDep, AppContext, EdgeDep, SessionDep

router = api_router("agent")
LONGEST_WAIT = 60.0
Wait = Annotated[float, Query(ge=0, le=LONGEST_WAIT, description="Seconds to wait for it.")]
Attempt = Annotated[int | None, Query(ge=1, le=2**31, description="The attempt that `after` counts in.")]


def _call(
    request: Request,
    edge: AppContext,
    call: Callable[[Session, str], Pass],
    transaction: Callable[[SessionFactory], AbstractContextManager[Session]] = unit_of_work,
) -> Callable[[], Awaitable[Pass]]:
    scheme, _, credentials = request.headers.get("authorization", "").partition(" ")
    token = credentials.strip() if scheme.lower() == "bearer" else ""

    def with_token(factory: SessionFactory) -> Pass:
        with transaction(factory) as session:
            return call(session, token)

    return lambda: edge.for_agent(with_token)


async def looker(request: Request, edge: EdgeDep) -> Callable[[], Awaitable[Pass]]:
    """Reads the episode of the request's token, each time in a new transaction."""
    return _call(request, edge, agent_tokens.pass_of_token, read_only)


async def starter(request: Request, edge: EdgeDep) -> Callable[[], Awaitable[Pass]]:
    """Starts an episode that is held for the token's program."""
    return _call(request, edge, agent_tokens.start_attempt)


async def leaver(request: Request, edge: EdgeDep) -> Callable[[], Awaitable[Pass]]:
    """Gives up an episode that is held for the token's program."""
    return _call(request, edge, agent_tokens.give_up)


LookDep = Annotated[Callable[[], Awaitable[Pass]], Depends(looker)]
StartDep = Annotated[Callable[[], Awaitable[Pass]], Depends(starter)]
LeaveDep = Annotated[Callable[[], Awaitable[Pass]], Depends(leaver)]


@router.post("/episodes/{episode_id}/agent-token", status_code=201, tags=["episodes"])
def issue(session: SessionDep, actor: ActorDep, episode_id: Id) -> schemas.AgentToken:  # noqa: ARG001 - who asks is checked by it.
    """Issue a token for a program that acts in this episode of a `remote` run. Replaces the previous one."""
    return schemas.AgentToken(episode_id=episode_id, token=agent_tokens.issue(session, episode_id))


@router.get("/agent")
async def show(look: LookDep, wait: Wait = 0) -> schemas.AgentEpisode:
    """Show the token's episode; with `wait`, once it has ended or after that number of seconds."""
    return episode(await agent_channel.until_over(look, wait) if wait else await look())


@router.get("/agent/observation")
async def observation(  # noqa: PLR0913 - one parameter for each thing to ask by
    look: LookDep,
    *,
    after: Annotated[int, Query(ge=-1, le=2**31, description="The last step that is known.")] = -1,
    attempt: Attempt = None,
    wait: Wait = 0,
    inline: Annotated[bool, Query(description="Includes the picture's bytes, which saves a request.")] = False,
    wait_restart: Annotated[
        bool, Query(description="Wait also while the episode awaits a restart, as one of a paused run does.")
    ] = True,
) -> schemas.AgentPoll:
    """Get the newest observation if it is later than step `after`; optionally wait for one.

    Without one, `episode.acting` tells whether to ask again. Each attempt counts its steps from 0: pass the `attempt`
    that `after` belongs to.
    """
    status, observation = await agent_channel.next_observation(
        look, after, attempt, wait, wait_restart=wait_restart, picture=inline
    )
    return schemas.AgentPoll(episode=episode(status), observation=None if observation is None else view(observation))


@router.get(
    "/agent/observation/frame",
    response_class=Response,
    responses={200: {"content": {"image/jpeg": {}, "image/png": {}}, "description": "The picture."}},
)
async def frame(
    look: LookDep, index: Annotated[int | None, Query(ge=0, le=2**31, description="Its step.")] = None
) -> Response:
    """Get the newest observation's picture."""
    observation = await agent_channel.picture(await look(), index)
    media_type = str(observation.head.get("media_type"))
    if media_type not in SHOWN:
        raise Invalid(f"unexpected type of picture: {media_type!r}", code="invalid_request")
    return Response(observation.picture, media_type=media_type, headers={"Cache-Control": "no-store"})


@router.post("/agent/attempts", status_code=202)
async def start(begin: StartDep) -> schemas.AgentEpisode:
    """Start another attempt after the desktop was lost (`awaits_restart`). Does nothing in other states."""
    return episode(await begin())


@router.post("/agent/actions", status_code=202)
async def act(look: LookDep, leave: LeaveDep, body: schemas.AgentAnswer) -> schemas.AgentReceipt:
    """Answer an observation. A repeated identical answer is performed once.

    After the desktop was lost (`episode.awaits_restart`) only the stop `steps` is accepted, which gives the episode up:
    it is lost.
    """
    status = await look()
    if status.awaits_restart and body.stop == "steps" and body.attempt in {None, status.attempt}:
        await leave()
        return schemas.AgentReceipt(index=body.index, repeated=False)
    message = body.model_dump(mode="json", exclude={"attempt"}, exclude_none=True)
    new = await agent_channel.give(status, body.index, body.attempt, {**message, "by": "agent"})
    return schemas.AgentReceipt(index=body.index, repeated=not new)


def episode(status: Pass) -> schemas.AgentEpisode:
    """The episode as visible to its agent."""
    return schemas.AgentEpisode.model_validate(
        {
            "episode_id": status.episode_id,
            "run_id": status.run_id,
            "task": status.task,
            "instruction": status.instruction,
            "state": status.state,
            "acting": status.acting,
            "attempt": status.attempt,
            "attempt_state": status.attempt_state,
            "outcome": status.outcome,
            "ended_by": status.ended_by,
            "failure_class": status.failure_class,
            "reason": status.reason,
            "reason_code": status.reason_code,
            "score": status.score,
            "solved": status.solved,
            "steps": status.steps,
            "awaits_restart": status.awaits_restart,
        }
    )


def view(observation: StoredObservation) -> schemas.AgentObservation:
    """An observation with the address of its picture, and the picture if available."""
    head = dict(observation.head)
    size = {name: head.pop(name, None) for name in ("media_type", "width", "height")}
    url = f"{API}/agent/observation/frame?index={observation.index}"
    data = base64.b64encode(observation.picture).decode() if observation.picture else None
    picture = {"url": url, "data": data, **size} if size["media_type"] else None
    tree = observation.tree if head.pop("has_tree", False) else None
    return schemas.AgentObservation.model_validate({**head, "picture": picture, "accessibility_tree": tree})
