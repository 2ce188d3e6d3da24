"""Lists that the database sorts: every column that a page offers, and pages that follow each other."""

import re
from collections.abc import Callable, Sequence
from typing import Any
from uuid import UUID

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select
from sqlalchemy.orm import Session

from backend.db.models import Benchmark, DemonstrationSet, OfflineStudy, Run, Study, TaskSet
from backend.db.repositories.authoring import drafts as draft_rows
from backend.db.repositories.benchmarks import benchmarks_view
from backend.db.repositories.configurations import agent_configurations
from backend.db.repositories.runs import runs_view
from backend.db.repositories.studies import demonstrations as demonstration_rows
from backend.db.repositories.studies import offline_studies as offline_rows
from backend.db.repositories.studies import studies as study_rows
from backend.domain.model.sort_order import SortOrder
from backend.services.authoring import drafts
from tests.factories.drafts import make_content
from tests.factories.scene import PageScene

PAGE = {"Accept": "text/html"}
HEAD = re.compile(r'<a class="sort" href="([^"]+)"')


def addresses(scene: PageScene) -> list[str]:
    return ["/runs", "/configurations", f"/runs/{scene.finished}", "/benchmarks/starter", "/workers"]


def test_every_head_sorts_both_ways(client: TestClient, scene: PageScene) -> None:
    for address in addresses(scene):
        heads = [head.replace("&amp;", "&") for head in HEAD.findall(client.get(address, headers=PAGE).text)]
        assert heads, address
        for head in heads:
            up = client.get(head, headers=PAGE)
            assert up.status_code == 200, head
            assert 'aria-sort="ascending"' in up.text, head
            assert client.get(head.replace("sort=", "sort=-"), headers=PAGE).status_code == 200, head


def test_unknown_sort_column_uses_the_default_order(client: TestClient) -> None:
    plain, unknown = (client.get(f"/runs{query}", headers=PAGE).text for query in ("", "?sort=colour"))
    rows = re.compile(r'<tr data-row data-key="([^"]+)"')
    assert rows.findall(plain) == rows.findall(unknown)


@pytest.mark.parametrize("kind", ["runs", "episodes", "tasks", "configurations"])
def test_pages_follow_each_other(scene: PageScene, kind: str) -> None:
    with scene.world.work() as session:
        columns, read = reader(session, scene, kind)
        for column in columns:
            for descending in (False, True):
                whole = [row[0].id for row in read(SortOrder(column, descending, 1), 400)]
                parts: list[Any] = []
                while len(parts) < len(whole):
                    page = read(SortOrder(column, descending, len(parts) // 3 + 1), 3)
                    parts += [row[0].id for row in page[:3]]
                    assert len(page) == min(4, len(whole) - len(parts) + len(page[:3]))
                assert parts == whole
                assert len(set(whole)) == len(whole) > 2


@pytest.mark.parametrize("kind", ["studies", "offline studies", "demonstrations", "drafts"])
def test_lists_that_a_cursor_pages_have_other_orders(scene: PageScene, kind: str) -> None:
    with scene.world.work() as session:
        repository, project = three_rows(session, scene, kind)
        for column in repository.ORDER:
            for descending in (False, True):
                whole, more = page_of(session, repository, project, SortOrder(column, descending), 50)
                assert len(whole) >= 3
                assert not more
                pages = [page_of(session, repository, project, SortOrder(column, descending, n + 1), 1) for n in (0, 1)]
                assert [row for rows, _ in pages for row in rows] == whole[:2]
                assert all(more for _, more in pages)
        session.rollback()


def page_of(session: Session, repository: Any, project: UUID, order: SortOrder, limit: int) -> tuple[list[UUID], bool]:
    """Ids of a page, and whether another one follows."""
    page = repository.listing(session, project, cursor=None, limit=limit, order=order)
    return [row.id for row in page.items], page.next is not None


def three_rows(session: Session, scene: PageScene, kind: str) -> tuple[Any, UUID]:
    """Three rows more of a kind, until the rollback; where they are listed, and for which project."""
    project, actor = scene.world.who(session)
    who = {"project_id": project.id, "actor_id": actor.id}
    config = {"base": {"benchmark": "starter"}, "factors": []}
    sets = [DemonstrationSet(**who, name=name, form="deskarena", content_hash=name) for name in ("b", "a", "c")]
    if kind == "drafts":
        for name in ("b", "a", "c"):
            drafts.create(session, make_content(name=name), project=project, author=actor)
        return draft_rows, project.id
    if kind == "studies":
        session.add_all(Study(**who, name=name, config=config, request_hash=name) for name in ("", "a", "c"))
        session.flush()
        return study_rows, project.id
    session.add_all(sets)
    session.flush()
    if kind == "demonstrations":
        return demonstration_rows, project.id
    studies = [OfflineStudy(**who, set_id=each.id, name="", config=config, request_hash=each.name) for each in sets]
    session.add_all(studies)
    session.flush()
    return offline_rows, project.id


def reader(session: Session, scene: PageScene, kind: str) -> tuple[Any, Callable[[SortOrder, int], Sequence[Any]]]:
    """Columns of a list, and how a page of it is read."""
    run = session.get_one(Run, scene.finished)
    task_set = session.scalars(
        select(TaskSet.id).join(Benchmark, Benchmark.id == TaskSet.benchmark_id).where(TaskSet.id == run.task_set_id)
    ).one()

    def configurations(order: SortOrder, size: int) -> Sequence[Any]:
        page = agent_configurations.listing(session, run.project_id, "", cursor=None, limit=size, order=order)
        # It says by its cursor that there are more.
        return [*page.items, *(page.items[-1:] if page.next else [])]

    readers: dict[str, tuple[Any, Callable[[SortOrder, int], Sequence[Any]]]] = {
        "runs": (runs_view.RUN_ORDER, lambda order, size: runs_view.runs(session, {}, None, size, order)),
        "episodes": (
            runs_view.EPISODE_ORDER,
            lambda order, size: runs_view.episodes(session, [run.id], {}, None, size, order),
        ),
        "tasks": (
            benchmarks_view.TASK_ORDER,
            lambda order, size: benchmarks_view.tasks(session, task_set, {}, None, size, order),
        ),
        "configurations": (agent_configurations.ORDER, configurations),
    }
    return readers[kind]
