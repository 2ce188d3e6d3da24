from worker.providers._slot_backoff import LONGEST, SHORTEST, SlotBackoff


class TestRests:
    def test_a_slot_rests_longer_each_time_and_not_for_ever(self) -> None:
        now = [0.0]
        rests = SlotBackoff(lambda: now[0])
        for expected in (SHORTEST, SHORTEST * 2, SHORTEST * 4):
            rests.failed("s", "no room")
            now[0] += expected - 0.1
            assert [each.why for each in rests.resting().values()] == ["no room"]
            now[0] += 0.2
            assert rests.resting() == {}
        for _ in range(40):
            rests.failed("s", "no room")
        now[0] += LONGEST + 0.1
        assert rests.resting() == {}

    def test_success_resets_the_backoff(self) -> None:
        now = [0.0]
        rests = SlotBackoff(lambda: now[0])
        rests.failed("s", "no room")
        rests.failed("s", "no room")
        rests.worked("s")
        rests.failed("s", "again")
        now[0] = SHORTEST + 0.1
        assert rests.resting() == {}
