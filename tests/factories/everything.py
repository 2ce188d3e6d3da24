"""An installation with something of everything, and an example of each address."""

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from fastapi.testclient import TestClient
from sqlalchemy import select, update
from uuid_utils.compat import uuid7

from backend.db.models import Artifact, Deletion, Episode, OfflineAnswer, Run, Submission, Task
from backend.db.models.enums import DeletionKind
from backend.services.agents import agent_tokens
from tests.factories import demonstrations
from tests.factories.creative import creative_benchmark, picture
from tests.factories.drafts import make_content
from tests.factories.records import World
from tests.factories.reviews import Judged, JudgedTask
from tests.factories.scene import PageScene, abilities
from tests.factories.submissions import hand_in
from tests.fakes.models import FakeModels
from worker.background.offline_evaluator import OfflineEvaluator
from worker.base.database import Database

QUERIES = {
    "/runs/new/estimate": "?benchmark=starter&agent=noop",
    "/api/v1/judges/{judge_id}/review": "?by=newcomer",
    "/judges/{judge_id}/review": "?as=newcomer",
    "/api/v1/benchmarks/{name}/pairs/next": "?person=newcomer",
    "/compare/pairs": "?benchmark=creative&person=newcomer",
    "/api/v1/compare": "?run={run_id}&run={human}",
    "/api/v1/compare/episodes": "?episode={episode_id}&episode={lost}",
    "/compare": "?run={run_id}&run={human}",
    "/compare/episodes": "?episode={episode_id}&episode={lost}",
    "/api/v1/failures": "?run={run_id}&run={human}",
    "/compare/failures": "?run={run_id}&run={human}",
    "/compare/failures/{table}.csv": "?run={run_id}&run={human}",
    "/compare/prompts": "?first={sha256}&second={sha256}",
    "/compare/{table}.csv": "?run={run_id}&run={human}",
    "/api/v1/runs/{run_id}/cut": "?label=domain",
    "/api/v1/runs/{run_id}/pair-cut": "?label=domain&by=difficulty",
    "/api/v1/leaderboards/{benchmark}/pair-cut": "?label=domain&by=difficulty",
    "/api/v1/runs/{run_id}/regression": "?baseline={human}",
    "/api/v1/benchmark-diff": "?old=starter&new=starter",
    "/benchmarks/{name}/diff": "?old=starter@1&new=starter@1",
    "/api/v1/trajectories/export": "?form=chat",
    "/api/v1/agent/observation": "?wait=0",
}
TABLES = {
    "judges": "answers", "studies": "cells", "failures": "shares", "compare": "rates", "process": "curve",
    "analyses": "gaps", "tasks": "history",
}  # fmt: skip


@dataclass
class Everything:
    """The examples: a value for each parameter of a path, a person's run, an agent's token."""

    params: dict[str, Any]
    human: UUID
    token: str

    def address(self, route: str) -> str:
        """A route with values for its parameters, and its query."""
        table = next((name for room, name in TABLES.items() if f"/{room}/" in route), "")
        run = self.human if route.endswith("/human") else self.params["run_id"]
        values = {**self.params, "run_id": run, "table": table, "chart": "steps" if "studies" in route else "curve"}
        if "/published/" in route:
            values["name"] = "osworld"
        if "/versions/" in route:
            values["number"] = 1
        if route.endswith("/thumbnail"):
            values["sha256"] = values["picture"]
        if "/offline" in route:
            values |= {"study_id": values["offline_study_id"], "table": "answers"}
        if "/demonstrations/" in route:
            values["name"] = "buttons"
        return (route + QUERIES.get(route, "")).format(**values, human=self.human)


def make_everything(scene: PageScene, client: TestClient, folder: Path) -> Everything:
    """Adds to a scene what it has not.

    Args:
        scene: of an installation of its own.
        client: of a service over it.
        folder: an empty folder.
    """
    made = scene.world
    judged = Judged(made, [JudgedTask(opened=True, final=True, level="L1")])
    token = add_more(made)
    content = make_content().model_dump(mode="json")
    draft = client.post("/api/v1/drafts", json={"content": content, "by": "ada"}).json()["id"]
    more = {**share_board(client), **add_offline_study(made, client, folder), "draft_id": draft}
    more |= {"deletion_id": add_deletion(made), **subscribe(client)}
    return Everything({**params_of(made, scene, judged.judge), **more}, scene.human, token)


def add_more(world: World) -> str:
    """Works, judges and a remote episode, which the scene has not; returns the token of the last."""
    world.benchmark(creative_benchmark(), "creative")
    able = abilities()
    able["agents"]["remote"] = able["agents"]["noop"]
    worker = world.worker(name="creative", slots=2, node="creative", capabilities=able)
    for agent in ("noop", "oracle"):
        world.submit(agent, benchmark="creative")
        hand_in(world, world.must_claim(worker), picture((1, 2, 3)))
    remote = world.submit("remote", benchmark="starter")
    with world.work() as session:
        session.execute(update(Run).values(rollup_stale=True))
        query = select(Episode.id).where(Episode.run_id == remote.id).limit(1)
        return agent_tokens.issue(session, session.scalars(query).one())


def add_deletion(world: World) -> UUID:
    """One that is finished."""
    with world.work() as session:
        project, _ = world.who(session)
        row = Deletion(kind=DeletionKind.RUN, target_id=uuid7(), name="old", project_id=project.id, requested_by="ada")
        row.finished_at = datetime.now(UTC)
        session.add(row)
        session.flush()
        return row.id


def params_of(world: World, scene: PageScene, judge: Any) -> dict[str, Any]:
    """A value for each parameter of a route's path."""
    with world.work() as session:
        stored = {
            "sha256": session.scalars(select(Artifact.sha256).limit(1)).one(),
            "picture": session.scalars(
                select(Artifact.sha256).where(Artifact.media_type == "image/jpeg").order_by(Artifact.size.desc())
            ).first(),
            "task_id": session.scalars(select(Task.id).limit(1)).one(),
            "configuration_id": session.get_one(Run, scene.finished).agent_configuration_id,
            "work_id": session.scalars(select(Submission.id).limit(1)).one(),
        }
        stored["submission_id"] = stored["work_id"]
    ids = {
        "run_id": scene.finished,
        "episode_id": scene.solved,
        "lost": scene.lost,
        "attempt_id": scene.attempts[0],
        "judge_id": judge,
    }
    names = {"name": "starter", "benchmark": "starter", "kind": "setup", "dimension": "domain"}
    return stored | ids | names | {"study_id": scene.study, "number": 0, "version": "1"}


def add_offline_study(world: World, client: TestClient, folder: Path) -> dict[str, Any]:
    """A set of demonstrations, and a study of it with its answers."""
    zipped = ("set.zip", demonstrations.zipped(demonstrations.own(folder)), "application/zip")
    form = {"name": "buttons", "form": "deskarena", "source": "ours"}
    client.post("/api/v1/demonstrations", data=form, files={"file": zipped})
    body = {"demonstrations": "buttons", "base": {"agent": "random", "seed": 1}}
    study = client.post("/api/v1/offline-studies", json=body).json()["id"]
    worker = OfflineEvaluator(Database(world.factory), world.store, lambda _: FakeModels(), every=0.1)
    while worker.process_next():
        pass
    with world.work() as session:
        return {"offline_study_id": study, "answer_id": session.scalars(select(OfflineAnswer.id).limit(1)).one()}


def share_board(client: TestClient) -> dict[str, str]:
    """A saved view and a public link."""
    view = client.post("/api/v1/saved-views", json={"benchmark": "starter", "name": "all"}).json()
    link = client.post("/api/v1/public-links", json={"benchmark": "starter"}).json()
    return {"view_id": view["id"], "link_id": link["id"], "token": link["token"]}


def subscribe(client: TestClient) -> dict[str, str]:
    """A webhook, and a delivery to it."""
    body = {"address": "https://hooks.example.org/deskarena", "events": ["run.ended"]}
    subscription = client.post("/api/v1/subscriptions", json=body).json()["id"]
    delivery = client.post(f"/api/v1/subscriptions/{subscription}/test").json()["id"]
    return {"subscription_id": subscription, "delivery_id": delivery}
