import pytest

from backend.db.compatibility import FLOOR, MigrationHistory, history, why_not

PLAIN = MigrationHistory(["2.0001", "2.0002", "2.0003"], {})
ENDS_WITH_CONTRACT = MigrationHistory(["2.0001", "2.0002", "2.0003", "2.0004"], {"2.0004": "2.0003"})
IN_THE_MIDDLE = MigrationHistory(["2.0001", "2.0002", "2.0003", "2.0004"], {"2.0002": "2.0001", "2.0003": "2.0002"})


class TestNeeded:
    def test_is_the_newest(self) -> None:
        assert PLAIN.needed == "2.0003"

    def test_takings_away_at_the_end_may_come_later(self) -> None:
        assert ENDS_WITH_CONTRACT.needed == "2.0003"

    def test_earlier_ones_are_needed_with_what_follows(self) -> None:
        assert IN_THE_MIDDLE.needed == "2.0004"


class TestExpandableTo:
    def test_goes_to_the_end_where_nothing_is_taken_away(self) -> None:
        assert PLAIN.expandable_to("2.0001") == "2.0003"

    def test_stops_before_a_taking_away(self) -> None:
        assert ENDS_WITH_CONTRACT.expandable_to("2.0001") == "2.0003"
        assert ENDS_WITH_CONTRACT.expandable_to("2.0003") == "2.0003"
        assert IN_THE_MIDDLE.expandable_to("2.0001") == "2.0001"

    def test_expands_beyond_a_contract(self) -> None:
        assert IN_THE_MIDDLE.expandable_to("2.0003") == "2.0004"


class TestFloor:
    def test_is_what_the_newest_taking_away_demands(self) -> None:
        assert ENDS_WITH_CONTRACT.floor("2.0004") == "2.0003"
        assert IN_THE_MIDDLE.floor("2.0004") == "2.0002"

    def test_no_floor_before_a_contract(self) -> None:
        assert not ENDS_WITH_CONTRACT.floor("2.0003")
        assert not PLAIN.floor("2.0003")
        assert not PLAIN.floor("")


class TestWhyNot:
    def test_own_schema_is_supported(self) -> None:
        assert not why_not(PLAIN, "2.0003", "")

    def test_an_older_one_is_not(self) -> None:
        assert "needs 2.0003" in why_not(PLAIN, "2.0002", "")

    def test_missing_schema_is_not_supported(self) -> None:
        assert "no schema yet" in why_not(PLAIN, "", "")

    @pytest.mark.parametrize("revision", ["0001", "0021"])
    def test_schema_before_0_2_is_not_supported(self, revision: str) -> None:
        assert "before 0.2" in why_not(PLAIN, revision, "")

    def test_own_schema_with_or_without_the_last_contract_is_supported(self) -> None:
        assert not why_not(ENDS_WITH_CONTRACT, "2.0003", "")
        assert not why_not(ENDS_WITH_CONTRACT, "2.0004", f"{FLOOR}2.0003")

    def test_a_newer_one_that_only_adds_is_good(self) -> None:
        assert not why_not(PLAIN, "2.0009", "")

    def test_a_newer_one_that_serves_releases_since_ours_is_good(self) -> None:
        assert not why_not(PLAIN, "2.0009", f"{FLOOR}2.0003")

    def test_a_newer_one_that_demands_what_we_do_not_know_is_not(self) -> None:
        assert "too old" in why_not(PLAIN, "2.0009", f"{FLOOR}2.0007")


class TestHistory:
    def test_reads_this_releases_migrations(self) -> None:
        assert history().revisions[0] == "2.0001"
        assert history().needed in history().revisions
