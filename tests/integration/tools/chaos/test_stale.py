"""That a stale write which was accepted would be seen, and that none is."""

from collections.abc import Iterator

import pytest

from backend.services.scheduling.claims import Fence
from tests.factories.records import World, world
from tools.chaos import facts, stale


@pytest.fixture
def installation(fresh_database: str) -> Iterator[World]:
    with world(fresh_database) as made:
        made.benchmark()
        made.worker()
        made.submit()
        yield made


class TestReplayed:
    def test_every_write_is_refused_to_who_lost_the_lease(self, installation: World) -> None:
        first = installation.must_claim(installation.worker())
        installation.lose(first)
        second = installation.must_claim(installation.worker())
        tried, accepted = stale.replayed(installation, facts.read(installation), set())
        assert accepted == []
        assert tried == len(stale.LOST) + len(stale.FOREIGN) + len(stale.FOREIGN)
        assert second.fence.token > first.fence.token

    def test_writes_to_an_ended_attempt_are_tried_once(self, installation: World) -> None:
        installation.score(installation.must_claim(installation.worker()))
        known: set[object] = set()
        assert stale.replayed(installation, facts.read(installation), known)[0] > 0
        assert stale.replayed(installation, facts.read(installation), known)[0] == 0

    @pytest.mark.parametrize("name", stale.ANY)
    def test_an_accepted_write_would_be_seen_and_is_undone(self, installation: World, name: str) -> None:
        claim = installation.must_claim(installation.worker())
        before = facts.read(installation)
        fence = Fence(claim.attempt_id, claim.fence.token)
        assert not stale.is_refused(installation, stale.ANY[name], fence)
        after = facts.read(installation)
        assert (after.attempts, after.runs, after.episodes) == (before.attempts, before.runs, before.episodes)
