"""Who acts: people are known by the names that they give."""

import pytest

from backend.db.models.enums import ActorKind
from backend.domain.errors import Invalid
from backend.services.accounts.projects import LONGEST_NAME, actor_for, person, person_or_local
from tests.error_codes import raises_code
from tests.factories.records import World


class TestPerson:
    def test_names_are_trimmed(self, installation: World) -> None:
        with installation.work() as session:
            project, _ = installation.who(session)
            found = person(session, project, " Ada Lovelace ")
            assert found.name == "Ada Lovelace"
            assert person(session, project, "Ada Lovelace").id == found.id
            assert person(session, project, "x" * LONGEST_NAME).name == "x" * LONGEST_NAME

    @pytest.mark.parametrize("name", ["", " ", "\t\n", "a\nb", "\ud800", "x" * (LONGEST_NAME + 1)])
    def test_invalid_names_are_refused(self, installation: World, name: str) -> None:
        with installation.work() as session:
            project, _ = installation.who(session)
            with raises_code(Invalid, "invalid_name", mentions="100") as told:
                person(session, project, name, path="by")
            assert told.value.path == "by"

    def test_a_program_is_not_a_person(self, installation: World) -> None:
        with installation.work() as session:
            project, _ = installation.who(session)
            actor_for(session, project, "robot", ActorKind.PROGRAM)
            with raises_code(Invalid, "not_a_person", mentions=("'robot'", "program")):
                person(session, project, "robot")


class TestPersonOrLocal:
    def test_the_default_actor_is_local(self, installation: World) -> None:
        with installation.work() as session:
            project, local = installation.who(session)
            assert [person_or_local(session, project, name).id for name in ("", " ")] == [local.id] * 2
            assert person_or_local(session, project, "ada").name == "ada"
            with pytest.raises(Invalid):
                person_or_local(session, project, "a\nb")
