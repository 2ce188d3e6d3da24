from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from backend.domain.statistics.alignment import AlignedStep
from backend.services.results.views.episode_pair import aligned_step
from backend.services.runs.views.attempt import ArtifactView, StepView

NOBODY = UUID(int=0)


def step(*actions: dict[str, Any], **more: Any) -> StepView:
    now = datetime(2026, 1, 1, tzinfo=UTC)
    return StepView(id=NOBODY, attempt_id=NOBODY, index=0, actions=list(actions), created_at=now, **more)


class TestAlignedStep:
    @pytest.mark.parametrize(
        ("actions", "aligned"),
        [
            ([{"type": "CLICK", "x": 960, "y": 270}], AlignedStep("CLICK", (0.5, 0.25))),
            ([{"type": "TYPING", "text": "a"}, {"type": "PRESS", "keys": "b"}], AlignedStep("TYPING PRESS", "a b")),
            ([{"type": "HOTKEY", "keys": ["ctrl", "s"]}], AlignedStep("HOTKEY", "ctrl+s")),
            ([{"type": "WAIT"}], AlignedStep("WAIT")),
            ([], AlignedStep("")),
        ],
    )  # fmt: skip
    def test_kind_and_target(self, actions: list[dict[str, Any]], aligned: AlignedStep) -> None:
        assert aligned_step(step(*actions)) == aligned

    def test_points_are_shares_of_the_own_screen(self) -> None:
        frame = ArtifactView(sha256="", url="", width=200, height=100)
        assert aligned_step(step({"type": "CLICK", "x": 50, "y": 50}, frame=frame)).target == (0.25, 0.5)

    def test_the_final_state_is_a_kind_of_its_own(self) -> None:
        assert aligned_step(step(results=[{"final": True}])).kind == "final"

    @pytest.mark.parametrize(("stored", "picture"), [(5, 5), (-1, 2**64 - 1), (None, None)])
    def test_the_hash_of_the_screen_is_not_negative(self, stored: int | None, picture: int | None) -> None:
        assert aligned_step(step(frame_hash=stored)).picture == picture
