from backend.db.compatibility import FLOOR, MigrationHistory, history, why_not

PLAIN = MigrationHistory(["0001", "0002", "0003"], {})
ENDS_WITH_CONTRACT = MigrationHistory(["0001", "0002", "0003", "0004"], {"0004": "0003"})
IN_THE_MIDDLE = MigrationHistory(["0001", "0002", "0003", "0004"], {"0002": "0001", "0003": "0002"})


class TestNeeded:
    def test_is_the_newest(self) -> None:
        assert PLAIN.needed == "0003"

    def test_takings_away_at_the_end_may_come_later(self) -> None:
        assert ENDS_WITH_CONTRACT.needed == "0003"

    def test_earlier_ones_are_needed_with_what_follows(self) -> None:
        assert IN_THE_MIDDLE.needed == "0004"


class TestExpandableTo:
    def test_goes_to_the_end_where_nothing_is_taken_away(self) -> None:
        assert PLAIN.expandable_to("0001") == "0003"

    def test_stops_before_a_taking_away(self) -> None:
        assert ENDS_WITH_CONTRACT.expandable_to("0001") == "0003"
        assert ENDS_WITH_CONTRACT.expandable_to("0003") == "0003"
        assert IN_THE_MIDDLE.expandable_to("0001") == "0001"

    def test_goes_on_behind_one(self) -> None:
        assert IN_THE_MIDDLE.expandable_to("0003") == "0004"


class TestFloor:
    def test_is_what_the_newest_taking_away_demands(self) -> None:
        assert ENDS_WITH_CONTRACT.floor("0004") == "0003"
        assert IN_THE_MIDDLE.floor("0004") == "0002"

    def test_is_none_before(self) -> None:
        assert not ENDS_WITH_CONTRACT.floor("0003")
        assert not PLAIN.floor("0003")
        assert not PLAIN.floor("")


class TestWhyNot:
    def test_its_own_schema_is_good(self) -> None:
        assert not why_not(PLAIN, "0003", "")

    def test_an_older_one_is_not(self) -> None:
        assert "needs 0003" in why_not(PLAIN, "0002", "")

    def test_none_is_not(self) -> None:
        assert "no schema yet" in why_not(PLAIN, "", "")

    def test_its_own_with_or_without_the_last_taking_away(self) -> None:
        assert not why_not(ENDS_WITH_CONTRACT, "0003", "")
        assert not why_not(ENDS_WITH_CONTRACT, "0004", f"{FLOOR}0003")

    def test_a_newer_one_that_only_adds_is_good(self) -> None:
        assert not why_not(PLAIN, "0009", "")

    def test_a_newer_one_that_serves_releases_since_ours_is_good(self) -> None:
        assert not why_not(PLAIN, "0009", f"{FLOOR}0003")

    def test_a_newer_one_that_demands_what_we_do_not_know_is_not(self) -> None:
        assert "too old" in why_not(PLAIN, "0009", f"{FLOOR}0007")


class TestHistory:
    def test_reads_this_releases_migrations(self) -> None:
        assert history().revisions[:2] == ["0001", "0002"]
        assert history().needed in history().revisions
