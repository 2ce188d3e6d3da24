"""A worker asks a model for drafts, which only people can approve."""

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from backend.db.models import TaskDraftRequest
from backend.db.models.enums import DraftAuthor
from backend.domain import registry
from backend.domain.drafts.states import DraftState
from backend.domain.errors import Conflict, Invalid, ModelApiFailed
from backend.domain.ports.model import Models
from backend.services.accounts.projects import person
from backend.services.authoring import draft_requests, draft_reviews, drafts
from backend.services.capacity.model_endpoints import Endpoints
from backend.services.capacity.task_secrets import TaskSecrets
from tests.factories.drafts import proposal
from tests.factories.records import World, capabilities
from tests.fakes.models import FakeModels
from worker.background.drafter import Drafter
from worker.base.database import Database
from worker.models.model_pool import ModelPool

GOOD = json.dumps({"drafts": [proposal(), proposal(name="lent")]})
registry.load("worker.models")
READY = {"tape": {"api": "recorded", "ok": True, "reason": "", "prices": []}}


@pytest.fixture
def installed(world: World) -> World:
    """With a worker that offers one endpoint."""
    world.worker(capabilities={**capabilities(), "models": READY})
    return world


def ask(world: World, **more: Any) -> UUID:
    with world.work() as session:
        project, _ = world.who(session)
        actor = person(session, project, "ada")
        told = {"persona": "A librarian.", "count": 2, "endpoint": "tape", "model": "m", **more}
        return draft_requests.request(session, project=project, actor=actor, **told).id


def drafter(world: World, models: Models) -> Drafter:
    return Drafter(Database(world.factory), lambda _: models, every=0.1)


def row(world: World, request_id: UUID) -> TaskDraftRequest:
    found: TaskDraftRequest = world.do(lambda session: session.get_one(TaskDraftRequest, request_id))
    return found


class TestOne:
    def test_a_cassette_s_reply_becomes_drafts(self, installed: World, tmp_path: Path) -> None:
        tape = tmp_path / "tape.jsonl"
        tape.write_text(json.dumps({"reply": {"text": GOOD, "model": "m-2026-05-01"}, "when": "A librarian."}) + "\n")
        settings = tmp_path / "models.toml"
        settings.write_text(f'[endpoints.tape]\napi = "recorded"\ncassette = "{tape}"\n')
        room = ModelPool(Endpoints(settings, TaskSecrets(tmp_path), {}))
        asked = ask(installed)
        worker = Drafter(Database(installed.factory), room.models, every=0.1)
        assert worker.process_next()
        assert worker.process_next() is False
        found = row(installed, asked)
        assert (found.state, found.created_count, found.message) == ("done", 2, "wrote library/overdue, library/lent")
        with installed.work() as session:
            project, _ = installed.who(session)
            made = drafts.list_drafts(session, project).items
            assert {(one.author_kind, one.model, one.persona, one.state) for one in made} == {
                (DraftAuthor.MODEL.value, "m-2026-05-01", "A librarian.", DraftState.DRAFT.value)
            }
            assert all(len(one.prompt_hash) == 64 for one in made)
            with pytest.raises((Conflict, Invalid)):
                draft_reviews.submit(session, made[0].id)

    def test_invalid_reply_creates_no_draft(self, installed: World) -> None:
        asked = ask(installed)
        bad = json.dumps({"drafts": [proposal(), proposal(name="x y")]})
        assert drafter(installed, FakeModels(bad)).process_next()
        found = row(installed, asked)
        assert (found.state, found.created_count) == ("failed", 0)
        assert "drafts.1.name" in found.message
        with installed.work() as session:
            project, _ = installed.who(session)
            assert drafts.list_drafts(session, project).items == []

    def test_reply_with_a_lone_surrogate_is_refused(self, installed: World) -> None:
        asked = ask(installed)
        bad = json.dumps({"drafts": [proposal(setup=[{"type": "launch", "parameters": {"command": ["\ud800"]}}])]})
        assert "\\ud800" in bad
        assert drafter(installed, FakeModels(bad)).process_next()
        found = row(installed, asked)
        assert (found.state, found.created_count) == ("failed", 0)
        assert "lone surrogate" in found.message

    def test_existing_task_key_is_skipped(self, installed: World) -> None:
        ask(installed)
        assert drafter(installed, FakeModels(GOOD)).process_next()
        again = ask(installed)
        assert drafter(installed, FakeModels(json.dumps({"drafts": [proposal(), proposal(name="new")]}))).process_next()
        found = row(installed, again)
        assert found.created_count == 1
        assert found.message.startswith("wrote library/new; left out: a draft of library/overdue")

    def test_a_model_that_does_not_answer(self, installed: World) -> None:
        asked = ask(installed)
        assert drafter(installed, FakeModels(ModelApiFailed("no answer"))).process_next()
        assert (row(installed, asked).state, row(installed, asked).message) == ("failed", "no answer")

    def test_a_worker_that_stops_leaves_it_waiting(self, installed: World) -> None:
        asked = ask(installed)
        worker = drafter(installed, FakeModels(ModelApiFailed("stopping")))
        worker.stop()
        assert worker.process_next() is False
        assert row(installed, asked).state == "waiting"


class TestRequest:
    @pytest.mark.parametrize(
        ("more", "path"),
        [({"endpoint": "nowhere"}, "endpoint"), ({"count": 99}, "count"), ({"persona": " "}, "persona")],
    )
    def test_problems_are_named(self, installed: World, more: dict[str, Any], path: str) -> None:
        with pytest.raises(Invalid) as told:
            ask(installed, **more)
        assert told.value.path == path
