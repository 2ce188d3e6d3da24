from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import uuid4

import pytest

from backend.domain.model.reason import Reason, ReasonCode, stored_reason
from backend.domain.scheduling.requirements import Requirements, WorkerCapability
from backend.domain.scheduling.wait_reasons import EpisodeWait, RunStanding, WaitReason, unable, unread, why

NOW = datetime(2026, 3, 1, 13, 5, tzinfo=UTC)
NEED = Requirements(uuid4(), "linux", frozenset({"gimp", "mousepad"}))
STAND = RunStanding("running", "local", "noop", None, None, slots=8, free=0)
WAITER = EpisodeWait(NOW, need=NEED)
NEVER = datetime(9999, 1, 1, tzinfo=UTC)
PERSON = Reason(ReasonCode.PERSON, "waiting for a person")
LOST = Reason(ReasonCode.RETRY_DELAY, "attempt 1 was lost (model_api)")
BROKEN = Reason(ReasonCode.SLOTS_UNUSABLE, "no local slot is usable: 4 broken")
UNREAD = unread("w1 0.1", "its task")


def able(*programs: str, agents: tuple[str, ...] = ("noop",), images: tuple[str, ...] = ()) -> WorkerCapability:
    has = {"": frozenset(programs), **{image: frozenset(programs) for image in images}}
    return WorkerCapability("local", {"linux": has}, frozenset(agents), frozenset(images))


GOOD = able("gimp", "mousepad", "ls")


def words(waiter: EpisodeWait = WAITER, stand: RunStanding = STAND, ahead: int | None = 3) -> str:
    reason = why(waiter, stand, [GOOD], NOW, ahead)
    assert reason.turn
    return reason.text


class TestWhy:
    @pytest.mark.parametrize(
        ("waiter", "stand", "expected"),
        [
            (WAITER, replace(STAND, state="paused"), Reason(ReasonCode.RUN_PAUSED, "the run is paused")),
            (replace(WAITER, available_at=NEVER), STAND, Reason(ReasonCode.ON_HOLD, "on hold")),
            (replace(WAITER, available_at=NEVER, reason=PERSON), STAND, PERSON),
            (replace(WAITER, available_at=NOW + timedelta(seconds=90), reason=LOST), STAND,
             Reason(ReasonCode.RETRY_DELAY, f"retry at 13:06:30 UTC: {LOST.text}")),
            (replace(WAITER, lacking="a licence of Photoshop, 1 of 1 in use"), STAND,
             Reason(ReasonCode.LICENCE_IN_USE, "waiting for a licence of Photoshop, 1 of 1 in use")),
            (WAITER, replace(STAND, slots=0, closed=BROKEN), BROKEN),
            (replace(WAITER, reason=UNREAD), replace(STAND, free=8), UNREAD),
        ],
    )  # fmt: skip
    def test_reports_the_first_reason(self, waiter: EpisodeWait, stand: RunStanding, expected: Reason) -> None:
        reason = why(waiter, stand, [GOOD], NOW, 3)
        assert reason == WaitReason(expected.code, expected.text)
        assert not reason.turn

    def test_a_reason_of_another_release_is_shown(self) -> None:
        waiter = replace(WAITER, available_at=NEVER, reason=stored_reason("of_tomorrow", "waiting for tomorrow"))
        assert why(waiter, STAND, [GOOD], NOW, 3) == WaitReason(ReasonCode.OTHER, "waiting for tomorrow")

    def test_reached_limit_is_reported_and_preserves_the_turn(self) -> None:
        full = Reason(ReasonCode.QUOTA_REACHED, "project quota reached: 8 of 8 desktops")
        reason = why(WAITER, replace(STAND, hindrance=full), [GOOD], NOW, 3)
        assert reason == WaitReason(full.code, full.text, timed=True)
        assert reason.turn

    def test_else_it_waits_for_its_turn(self) -> None:
        stand = replace(STAND, first="40 episodes of higher-priority runs first")
        assert why(WAITER, stand, [GOOD], NOW, 3) == WaitReason(
            ReasonCode.DESKTOPS_IN_USE,
            "8 of 8 desktops in use; 3 episodes of the run first; 40 episodes of higher-priority runs first",
        )
        assert why(WAITER, STAND, [GOOD], NOW, 0).timed
        assert why(WAITER, replace(STAND, free=1), [GOOD], NOW, 0) == WaitReason(ReasonCode.STARTING, "about to start")
        assert words(ahead=1) == "8 of 8 desktops in use; 1 episode of the run first"
        assert words(ahead=0) == "8 of 8 desktops in use; next in its run"
        assert words(stand=replace(STAND, free=4)) == "about to start"
        assert words(stand=replace(STAND, free=3)) == "5 of 8 desktops in use; 3 episodes of the run first"


class TestUnable:
    @pytest.mark.parametrize(
        ("workers", "image", "expected"),
        [
            ([], None, (ReasonCode.PROVIDER_NOT_OFFERED, "local")),
            ([able(agents=("oracle",))], None, (ReasonCode.AGENT_NOT_OFFERED, "noop")),
            ([GOOD], "full", (ReasonCode.IMAGE_NOT_OFFERED, "full")),
            ([able("ls"), able("mousepad")], None, (ReasonCode.PROGRAMS_NOT_INSTALLED, "program gimp")),
            ([able("ls")], None, (ReasonCode.PROGRAMS_NOT_INSTALLED, "programs gimp, mousepad")),
            ([replace(GOOD, programs={"windows": {"": frozenset()}})], None, (ReasonCode.SYSTEM_NOT_OFFERED, "linux")),
        ],
    )  # fmt: skip
    def test_reports_the_capability_that_no_worker_has(
        self, workers: list[WorkerCapability], image: str | None, expected: tuple[ReasonCode, str]
    ) -> None:
        reason = unable("local", "noop", image, [NEED], workers)
        assert reason is not None
        assert (reason.code, expected[1] in reason.text) == (expected[0], True)

    @pytest.mark.parametrize(
        ("workers", "image"),
        [
            ([able("ls"), GOOD], None),
            ([able("gimp", "mousepad", images=("full",))], "full"),
            ([replace(GOOD, functions=False)], None),
        ],
    )
    def test_no_reason_when_one_worker_has_every_capability(
        self, workers: list[WorkerCapability], image: str | None
    ) -> None:
        assert unable("local", "noop", image, [NEED], workers) is None

    def test_reports_a_missing_sandbox_for_evaluation_functions(self) -> None:
        function, other = uuid4(), uuid4()
        both = replace(NEED, functions=frozenset({function}))
        poor = [replace(GOOD, functions=False), able("gimp")]
        reason = unable("local", "noop", None, [both.for_task(function)], poor)
        assert reason is not None
        assert reason.code is ReasonCode.FUNCTIONS_NOT_SANDBOXED
        assert unable("local", "noop", None, [both.for_task(other)], poor) is None
        assert unable("local", "noop", None, [both.for_task(function)], [*poor, GOOD]) is None
