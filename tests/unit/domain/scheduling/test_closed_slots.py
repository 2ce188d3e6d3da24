import pytest

from backend.domain.model.reason import Reason, ReasonCode
from backend.domain.scheduling.closed_slots import MOST_WORDS, ClosedSlots, closed_reason

CORDONED = "cordoned: no new pods are scheduled on it"


class TestClosed:
    @pytest.mark.parametrize(
        ("slots", "expected"),
        [
            ([ClosedSlots(4, "broken", "the image cannot be had")], "4 broken (the image cannot be had)"),
            ([ClosedSlots(4, "draining", CORDONED)], f"4 on a node that is draining ({CORDONED})"),
            ([ClosedSlots(2, "broken")], "2 broken"),
            ([ClosedSlots(2, "free")], "2 beyond the parallel limit of the workers"),
            ([ClosedSlots(1, "lost", "a"), ClosedSlots(2, "broken", "b")], "2 broken (b), 1 for other reasons"),
            # Alike but for what was taken out of their reasons.
            ([ClosedSlots(2, "broken", "a"), ClosedSlots(1, "broken", "b"), ClosedSlots(1, "broken", "b"),
              ClosedSlots(1, "broken", "b")], "3 broken (b), 2 for other reasons"),
        ],
    )  # fmt: skip
    def test_reports_the_most_common_reason(self, slots: list[ClosedSlots], expected: str) -> None:
        text = f"no k8s slot is usable: {expected}; see the workers page"
        assert closed_reason("k8s", slots, []) == Reason(ReasonCode.SLOTS_UNUSABLE, text)

    def test_provider_without_slots_offers_none(self) -> None:
        assert closed_reason("k8s", [], []).code is ReasonCode.SLOTS_NOT_OFFERED
        text = "no node offers k8s slots (no room for a desktop: memory); see the workers page"
        reason = closed_reason("k8s", [], ["", "no room for a desktop: memory"])
        assert reason == Reason(ReasonCode.SLOTS_NOT_OFFERED, text)

    def test_cluster_reason_is_one_short_line(self) -> None:
        words = closed_reason("k8s", [ClosedSlots(1, "broken", "no\n\tpod " + "x" * 5000)], []).text
        assert "(no pod xxx" in words
        assert "x…); see the workers page" in words
        assert len(words) < MOST_WORDS + 100

    @pytest.mark.parametrize(("length", "shown"), [(200, "x" * 200), (201, "x" * 199 + "…")])
    def test_a_reason_is_cut_when_it_is_longer_than_the_limit(self, length: int, shown: str) -> None:
        assert f"1 broken ({shown}); " in closed_reason("k8s", [ClosedSlots(1, "broken", "x" * length)], []).text
