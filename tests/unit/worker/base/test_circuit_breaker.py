"""State of a circuit breaker after successes and failures, and the time of its next probe."""

import pytest

from worker.base.circuit_breaker import LONGEST_PAUSE, CircuitBreaker
from worker.k8s.cluster import ClusterError, ClusterUnavailable, RequestRefused


class ProbedServer:
    """Results of `ask`; `asked` are the moments."""

    def __init__(self) -> None:
        self.now, self.error = 0.0, None
        self.asked: list[float] = []
        self.answers = CircuitBreaker("the cluster", self.ask, ClusterUnavailable, (ClusterError,), lambda: self.now)

    error: ClusterError | None

    def ask(self) -> None:
        self.asked.append(self.now)
        if self.error is not None:
            raise self.error

    def let_pass(self, seconds: int) -> None:
        for _ in range(seconds * 10):
            self.now += 0.1
            self.answers.look()


@pytest.fixture
def server() -> ProbedServer:
    return ProbedServer()


def test_healthy_server_is_not_probed(server: ProbedServer) -> None:
    server.let_pass(60)
    assert (server.asked, server.answers.why_not) == ([], "")


def test_unavailable_server_is_probed_with_backoff_until_it_recovers(server: ProbedServer) -> None:
    server.error = ClusterUnavailable("nobody answers")
    server.answers.failed("the first pod")
    assert server.answers.why_not == "the first pod"
    server.let_pass(60)
    assert [round(each) for each in server.asked[:5]] == [1, 3, 7, 15, 23]
    assert server.answers.why_not == "nobody answers"
    server.error = None
    server.let_pass(round(LONGEST_PAUSE) + 1)
    assert server.answers.why_not == ""


def test_repeated_failures_do_not_delay_the_next_probe(server: ProbedServer) -> None:
    server.error = ClusterUnavailable("nobody answers")
    for _ in range(20):
        server.answers.failed("a pod")
        server.let_pass(1)
    assert [round(each) for each in server.asked] == [1, 3, 7, 15]


def test_refusal_counts_as_a_response(server: ProbedServer) -> None:
    server.error = RequestRefused("the quota is used up", code=403)
    server.answers.failed("a pod")
    server.let_pass(2)
    assert server.answers.why_not == ""


def test_backoff_restarts_after_recovery(server: ProbedServer) -> None:
    server.error = ClusterUnavailable("nobody answers")
    server.answers.failed("a pod")
    server.let_pass(20)
    server.error = None
    server.let_pass(10)
    before = server.now
    server.answers.failed("another pod")
    server.let_pass(3)
    assert server.asked[-1] - before == pytest.approx(1.0, abs=0.2)
