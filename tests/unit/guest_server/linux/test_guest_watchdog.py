"""The watchdog in a virtual machine."""

import socket
from collections.abc import Iterator

import pytest

from guest_server.linux.watchdog import ROUNDS, answers, watch


class Answers:
    """Of a guest server, one a round; raises StopIteration after the last."""

    def __init__(self, *replies: bool) -> None:
        self._replies: Iterator[bool] = iter(replies)
        self.rounds = 0

    def __call__(self) -> bool:
        self.rounds += 1
        return next(self._replies)


def no_pause(_: float) -> None:
    """Rounds follow at once."""


class TestWatch:
    def test_ends_after_rounds_without_an_answer(self) -> None:
        replies = Answers(True, *[False] * ROUNDS)
        watch(replies, no_pause)
        assert replies.rounds == ROUNDS + 1

    def test_answer_resets_the_count(self) -> None:
        replies = Answers(True, *[False] * (ROUNDS - 1), True, *[False] * ROUNDS)
        watch(replies, no_pause)
        assert replies.rounds == 2 * ROUNDS + 1

    def test_a_desktop_that_is_not_ready_yet_has_time(self) -> None:
        with pytest.raises(StopIteration):
            watch(Answers(*[False] * (3 * ROUNDS)), no_pause)


class TestAnswers:
    def test_closed_port_does_not_answer(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
        assert not answers(port)

    def test_silent_server_does_not_answer(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as server:
            assert not answers(server.getsockname()[1])
