import os
import time

from worker.desktop_supervisor.loop import Loop


class TestTurn:
    def test_calls_who_listens_until_forgotten(self) -> None:
        read, write = os.pipe()
        loop, heard = Loop(), []
        loop.listen(read, lambda: heard.append(os.read(read, 10)))
        os.write(write, b"x")
        loop.turn(1)
        loop.forget(read)
        loop.forget(read)
        os.write(write, b"y")
        loop.turn(0)
        os.close(read)
        os.close(write)
        assert heard == [b"x"]

    def test_a_callback_may_close_what_the_next_one_would_read(self) -> None:
        pairs = [os.pipe(), os.pipe()]
        loop, heard = Loop(), []

        def first_come(mine: int, other: int) -> None:
            heard.append(mine)
            loop.forget(other)

        (one, _), (two, _) = pairs
        loop.listen(one, lambda: first_come(one, two))
        loop.listen(two, lambda: first_come(two, one))
        for _, write in pairs:
            os.write(write, b"x")
        loop.turn(1)
        for pair in pairs:
            for fd in pair:
                os.close(fd)
        assert len(heard) == 1

    def test_timers_run_once_and_in_time(self) -> None:
        loop, called = Loop(), []
        loop.later(3600, lambda: called.append("late"))
        loop.later(0.02, lambda: called.append("timer"))
        started = time.monotonic()
        while not called:
            loop.turn(60)
        assert time.monotonic() - started < 30
        loop.turn(0)
        assert called == ["timer"]
