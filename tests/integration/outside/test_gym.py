"""The Gymnasium environment passes Gymnasium's own check, and its reward is the task's score."""

from collections.abc import Iterator

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from deskarena.gym import TYPES, DeskarenaEnv
from tests.integration.outside.conftest import OutsideService


@pytest.fixture
def env(service: OutsideService) -> Iterator[DeskarenaEnv]:
    made = DeskarenaEnv(
        "notes", ["notes/say-hello"], client=service.client(), provider="fake", screen_size=(640, 480), patience=120.0
    )
    yield made
    made.close()


@pytest.mark.sampled(2)
class TestDeskarenaEnv:
    def test_passes_the_check(self, service: OutsideService) -> None:
        made = gymnasium.make(
            "deskarena/Desktop-v0", benchmark="notes", tasks=["notes/say-hello"], server=service.url, token="",
            provider="fake", screen_size=(640, 480), render_mode="rgb_array", disable_env_checker=True,
        )  # fmt: skip
        check_env(made.unwrapped)
        made.close()

    def test_the_reward_is_the_score(self, env: DeskarenaEnv) -> None:
        seen, info = env.reset(seed=1)
        assert env.observation_space.contains(seen)
        assert info["instruction"] == "Write hello into the note and save it."
        action = env.action_space.sample() | {"type": TYPES.index("TYPING"), "text": "hello"}
        seen, reward, terminated, truncated, info = env.step(action)
        assert (reward, terminated, truncated, int(seen["step"])) == (0.0, False, False, 1)
        env.step({"action_type": "HOTKEY", "keys": ["ctrl", "s"]})
        *_, reward, terminated, truncated, info = env.step("DONE")
        assert (reward, terminated, truncated) == (1.0, True, False)
        assert info["result"]["solved"]

    def test_a_used_up_budget_truncates(self, service: OutsideService) -> None:
        env = DeskarenaEnv("notes", ["notes/say-hello"], client=service.client(), provider="fake",
                           screen_size=(640, 480), max_steps=1)  # fmt: skip
        env.reset()
        _, reward, terminated, truncated, _ = env.step("WAIT")
        assert (reward, terminated, truncated) == (0.0, False, True)
        env.close()

    def test_renders_the_screen(self, env: DeskarenaEnv) -> None:
        env.reset()
        picture = env.render()
        assert (picture.shape, picture.dtype) == ((480, 640, 3), np.uint8)
