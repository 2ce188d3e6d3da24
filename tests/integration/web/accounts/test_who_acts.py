"""Who has signed in is who acts: two approvals are two people's, whatever the requests say."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select

from backend.db.models import Actor, Quarantine, Task
from backend.domain.errors import Invalid
from backend.services.accounts import principal
from backend.services.accounts.projects import acting, default_project, person, person_or_local
from tests.error_codes import raises_code
from tests.factories.accounts import SERVICE, Team, team
from tests.factories.records import World


@pytest.fixture
def people(installation: World, tmp_path: Path) -> Iterator[Team]:
    with team(installation, tmp_path) as made:
        yield made


class TestWhoActs:
    def test_a_request_cannot_name_another(self, people: Team) -> None:
        ada = people.add("ada", "reviewer")
        with people.made.work() as session:
            task = session.scalars(select(Task.id).limit(1)).one()
        answer = ada.post(f"/api/v1/tasks/{task}/quarantine", json={"reason": "broken", "by": "grace"})
        assert answer.status_code == 201, answer.text
        with people.made.work() as session:
            names = session.scalars(select(Actor.name).join(Quarantine, Quarantine.actor_id == Actor.id)).all()
        assert names == ["ada"]

    def test_runs_carry_the_name_of_who_submitted_them(self, people: Team) -> None:
        ada = people.add("ada", "runner")
        answer = ada.post("/api/v1/runs", json={"benchmark": "starter", "agent": "noop"})
        assert answer.status_code == 201, answer.text
        with people.made.work() as session:
            assert "ada" in session.scalars(select(Actor.name)).all()

    def test_a_program_is_not_a_person(self, people: Team) -> None:
        with people.made.work() as session:
            principal.bind(session, principal.SERVICE)
            project = default_project(session)
            assert acting(session, project).kind == "program"
            assert person_or_local(session, project, "grace").name == "service"
            with raises_code(Invalid, "not_a_person"):
                person(session, project, "grace")

    def test_without_accounts_names_are_used_as_typed(self, people: Team) -> None:
        with people.made.work() as session:
            assert person(session, default_project(session), "grace").name == "grace"

    def test_the_token_of_programs_submits_as_service(self, people: Team) -> None:
        program = people.browser()
        program.headers["Authorization"] = f"Bearer {SERVICE}"
        assert program.post("/api/v1/runs", json={"benchmark": "starter", "agent": "noop"}).status_code == 201
        with people.made.work() as session:
            assert session.scalars(select(Actor.kind).where(Actor.name == "service")).one() == "program"
