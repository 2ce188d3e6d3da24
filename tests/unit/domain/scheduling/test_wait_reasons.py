from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from backend.domain.scheduling.requirements import FENCE, Requirements, WorkerCapability
from backend.domain.scheduling.wait_reasons import EpisodeWait, RunStanding, WaitReason, unable, why

NOW = datetime(2026, 3, 1, 13, 5, tzinfo=UTC)
NEED = Requirements(uuid4(), "linux", frozenset({"gimp", "mousepad"}))
STAND = RunStanding("running", "local", "noop", None, "", slots=8, free=0)
WAITER = EpisodeWait(NOW, need=NEED)


def able(*programs: str, agents: tuple[str, ...] = ("noop",), images: tuple[str, ...] = ()) -> WorkerCapability:
    has = {"": frozenset(programs), **{image: frozenset(programs) for image in images}}
    return WorkerCapability("local", {"linux": has}, frozenset(agents), frozenset(images))


GOOD = able("gimp", "mousepad", "ls")


def words(waiter: EpisodeWait = WAITER, stand: RunStanding = STAND, ahead: int | None = 3) -> str:
    return why(waiter, stand, [GOOD], NOW, ahead).words


class TestWhy:
    @pytest.mark.parametrize(
        ("waiter", "stand", "expected"),
        [
            (WAITER, replace(STAND, state="paused"), "the run is paused"),
            (replace(WAITER, available_at=datetime(9999, 1, 1, tzinfo=UTC), reason="waiting for a person"), STAND,
             "waiting for a person"),
            (replace(WAITER, available_at=NOW + timedelta(seconds=90), reason="attempt 1 was lost (model_api)"), STAND,
             "retry at 13:06:30 UTC: attempt 1 was lost (model_api)"),
            (replace(WAITER, lacking="a licence of Photoshop, 1 of 1 in use"), STAND,
             "waiting for a licence of Photoshop, 1 of 1 in use"),
            (WAITER, replace(STAND, slots=0, closed="no local slot is usable: 4 broken"),
             "no local slot is usable: 4 broken"),
        ],
    )  # fmt: skip
    def test_says_the_first_reason(self, waiter: EpisodeWait, stand: RunStanding, expected: str) -> None:
        assert why(waiter, stand, [GOOD], NOW, 3) == WaitReason(expected)

    def test_a_bound_is_told_and_leaves_it_its_turn(self) -> None:
        full = "project quota reached: 8 of 8 desktops"
        assert why(WAITER, replace(STAND, hindrance=full), [GOOD], NOW, 3) == WaitReason(full, turn=True, timed=True)

    def test_else_it_waits_for_its_turn(self) -> None:
        stand = replace(STAND, first="40 episodes of higher-priority runs first")
        assert why(WAITER, stand, [GOOD], NOW, 3) == WaitReason(
            "8 of 8 desktops in use; 3 episodes of the run first; 40 episodes of higher-priority runs first",
            turn=True,
        )
        assert why(WAITER, STAND, [GOOD], NOW, 0).timed
        assert why(WAITER, replace(STAND, free=1), [GOOD], NOW, 0) == WaitReason("about to start", turn=True)
        assert words(ahead=1) == "8 of 8 desktops in use; 1 episode of the run first"
        assert words(ahead=0) == "8 of 8 desktops in use; next in its run"
        assert words(stand=replace(STAND, free=4)) == "about to start"
        assert words(stand=replace(STAND, free=3)) == "5 of 8 desktops in use; 3 episodes of the run first"


class TestUnable:
    @pytest.mark.parametrize(
        ("workers", "image", "expected"),
        [
            ([], None, "no online worker offers local desktops"),
            ([able(agents=("oracle",))], None, "no online worker offers the agent noop"),
            ([GOOD], "full", "no online worker has the image full"),
            ([able("ls"), able("mousepad")], None, "no online worker has the program gimp"),
            ([able("ls")], None, "no online worker has the programs gimp, mousepad"),
            ([replace(GOOD, programs={"windows": {"": frozenset()}})], None,
             "no online worker has linux desktops"),
            ([able("ls"), GOOD], None, ""),
            ([able("gimp", "mousepad", images=("full",))], "full", ""),
            ([replace(GOOD, functions=False)], None, ""),
        ],
    )  # fmt: skip
    def test_says_what_nobody_has(self, workers: list[WorkerCapability], image: str | None, expected: str) -> None:
        assert unable("local", "noop", image, [NEED], workers) == expected

    def test_says_that_nobody_has_a_fence_for_evaluation_functions(self) -> None:
        function, other = uuid4(), uuid4()
        both = replace(NEED, functions=frozenset({function}))
        poor = [replace(GOOD, functions=False), able("gimp")]
        assert unable("local", "noop", None, [both.of(function)], poor) == f"no online worker has {FENCE}"
        assert unable("local", "noop", None, [both.of(other)], poor) == ""
        assert unable("local", "noop", None, [both.of(function)], [*poor, GOOD]) == ""
