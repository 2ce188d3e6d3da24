import asyncio
import threading

import pytest

from backend.domain.errors import Unavailable
from backend.web.events.shared_reads import SharedReads
from tests.fakes.clock import FakeClock


class CountedRead:
    """Counts its reads; fails on demand."""

    def __init__(self) -> None:
        self.reads = 0
        self.away = False

    def __call__(self) -> int:
        self.reads += 1
        if self.away:
            raise Unavailable("the database is away", code="database_unavailable")
        return self.reads


class TestSharedReads:
    def test_many_viewers_read_once(self) -> None:
        clock, source, held = FakeClock(), CountedRead(), threading.Event()
        reads = SharedReads(clock.now)

        def slowly() -> int:
            held.wait(5)
            return source()

        async def view() -> list[int]:
            asking = [asyncio.create_task(reads.get("run", 1.0, slowly)) for _ in range(300)]
            await asyncio.sleep(0)
            held.set()
            return await asyncio.gather(*asking)

        assert asyncio.run(view()) == [1] * 300

    def test_stale_entries_are_read_again(self) -> None:
        clock, source = FakeClock(), CountedRead()
        reads = SharedReads(clock.now)

        async def view() -> list[int]:
            first = [await reads.get("run", 1.0, source) for _ in range(2)]
            other = await reads.get("other run", 1.0, source)
            clock.advance(1.0)
            return [*first, other, await reads.get("run", 1.0, source)]

        assert asyncio.run(view()) == [1, 1, 2, 3]

    def test_a_failure_is_not_remembered(self) -> None:
        source = CountedRead()
        reads = SharedReads(FakeClock().now)

        async def view() -> int:
            source.away = True
            with pytest.raises(Unavailable):
                await reads.get("run", 1.0, source)
            source.away = False
            return await reads.get("run", 1.0, source)

        assert asyncio.run(view()) == 2

    def test_a_viewer_that_leaves_takes_nothing_from_the_others(self) -> None:
        source, held = CountedRead(), threading.Event()
        reads = SharedReads(FakeClock().now)

        def slowly() -> int:
            held.wait(5)
            return source()

        async def view() -> int:
            leaving, staying = (asyncio.create_task(reads.get("run", 1.0, slowly)) for _ in range(2))
            await asyncio.sleep(0)
            leaving.cancel()
            held.set()
            return await staying

        assert asyncio.run(view()) == 1
