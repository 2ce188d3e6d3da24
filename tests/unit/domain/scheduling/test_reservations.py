import pytest

from backend.domain.errors import Invalid
from backend.domain.scheduling.reservations import Reserve, Urgency, common
from tests.error_codes import raises_code

ALONE, PERSON = Urgency.NOBODY, Urgency.PERSON


class TestKept:
    def test_batch_episode_leaves_all_reserved_slots(self) -> None:
        assert Reserve(2, {"p": 1}, {}).reserved("p", ALONE) == 3

    def test_slots_in_interactive_use_are_not_reserved_twice(self) -> None:
        assert Reserve(2, {"p": 1}, {"p": 1}).reserved("q", ALONE) == 2
        assert Reserve(2, {"p": 1}, {"p": 2, "q": 5}).reserved("q", ALONE) == 0

    def test_person_leaves_only_other_projects_slots(self) -> None:
        reserve = Reserve(2, {"p": 1, "q": 3}, {})
        assert (reserve.reserved("p", PERSON), reserve.reserved("r", PERSON)) == (3, 4)

    def test_slots_used_from_another_projects_reserve_are_not_reserved_again(self) -> None:
        reserve = Reserve(0, {"p": 2, "q": 3}, {"p": 1, "q": 5})
        assert [reserve.reserved(project, ALONE) for project in "pqr"] == [1, 1, 1]
        assert [reserve.reserved(project, PERSON) for project in "pqr"] == [0, 1, 1]


class TestOpenTo:
    def test_open_until_own_and_common_reserve_are_used(self) -> None:
        assert Reserve(1, {"p": 1}, {"p": 1}).open_to("p")
        assert not Reserve(1, {"p": 1}, {"p": 2}).open_to("p")
        assert Reserve(0, {"p": 1}, {"q": 9}).open_to("p")


class TestCommon:
    @pytest.mark.parametrize(
        ("written", "slots", "number"),
        [("2", 40, 2), ("10%", 49, 4), (" 0 ", 5, 0), ("10%", 9, 0), ("100%", 7, 7), ("999999", 1, 999_999)],
    )
    def test_a_number_or_a_share(self, written: str, slots: int, number: int) -> None:
        assert common(written, slots) == number

    @pytest.mark.parametrize("wrong", ["", "-1", "101%", "some", "1.5", "1000000", "5%%"])
    def test_invalid_reservation_is_refused(self, wrong: str) -> None:
        with raises_code(Invalid, "invalid_reservation"):
            common(wrong, 10)
