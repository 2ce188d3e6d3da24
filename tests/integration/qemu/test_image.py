"""The real Linux image: what becomes of a clock that was changed in a machine."""

import base64
import os
import time
from collections.abc import Iterator

import pytest

from backend.domain.errors import GuestLost
from backend.domain.health import HealthLimits
from backend.domain.ports import OpenDesktop, Provider
from tests.contract.conftest import SPEC, made_provider
from worker.health import check_health

pytestmark = [pytest.mark.desktop, pytest.mark.long, pytest.mark.timeout(1800)]
LONG_AGO = 10**9


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provider]:
    made = made_provider("qemu", tmp_path_factory)
    yield made
    made.close()


def change_clock(opened: OpenDesktop) -> None:
    """As an agent with the administrator's rights would; its user has none, so the machine's helper does it."""
    told = {
        "time": LONG_AGO,
        "entropy": base64.b64encode(os.urandom(16)).decode(),
        "secret": opened.stream_address()[1],
    }
    opened.desktop.call("POST", "/restored", told)


class TestClock:
    def test_a_changed_clock_is_seen_named_and_gone_with_its_machine(self, provider: Provider) -> None:
        changed = provider.open(0, SPEC)
        change_clock(changed)
        # It still answers in time, and what it tells is recorded: our deadlines and steps go by our own clock.
        assert abs(changed.desktop.probe().clock - LONG_AGO) < 60
        seen = changed.desktop.frame()
        with pytest.raises(GuestLost, match="clock: "):
            check_health(changed.desktop, SPEC.screen, seen, HealthLimits(), pause=lambda _: None)
        changed.close()
        after = provider.open(0, SPEC)
        assert abs(after.desktop.probe().clock - time.time()) < 2
        check_health(after.desktop, SPEC.screen, after.desktop.frame(), HealthLimits(), pause=lambda _: None)
        after.close()
