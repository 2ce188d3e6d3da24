"""Size limits, on a session that has small ones."""

from collections.abc import Iterator

import pytest

from backend.domain.errors import GuestRefused
from tests.integration.guest_server.session import RunningSession

pytestmark = pytest.mark.desktop


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSession]:
    names = {"JSON_BODY": 2000, "UPLOAD": 3000, "FILE": 3000, "OUTPUT": 50, "TREE_NODES": 20, "TEXT": 30, "EVENTS": 3}
    variables = {f"DESKARENA_LIMIT_{name}": str(value) for name, value in names.items()}
    variables |= {"DESKARENA_LIMIT_COMMAND_SECONDS": "3", "DESKARENA_LIMIT_LONGEST_SECONDS": "5"}
    with RunningSession(tmp_path_factory.mktemp("limits"), variables=variables) as started:
        yield started


def refused(session: RunningSession, route: str, payload: object) -> tuple[int, str]:
    response = session.http.post(route, json=payload)
    return response.status_code, response.json()["error"]


class TestLimits:
    def test_too_large_request_is_refused(self, session: RunningSession) -> None:
        assert refused(session, "/execute", {"command": "x" * 3000}) == (413, "too_large")

    def test_upload_leaves_nothing(self, session: RunningSession) -> None:
        session.desktop.write_file("~/fits.bin", b"x" * 3000)
        with pytest.raises(GuestRefused) as caught:
            session.desktop.write_file("~/too.bin", b"x" * 3001)
        assert caught.value.kind == "too_large"
        assert not [path for path in session.home.iterdir() if path.name.startswith((".upload", "too"))]

    def test_too_large_file_is_refused(self, session: RunningSession) -> None:
        session.write("big.bin", b"x" * 3001)
        with pytest.raises(GuestRefused) as caught:
            session.desktop.read_file("~/big.bin")
        assert caught.value.kind == "too_large"

    def test_long_output_is_truncated(self, session: RunningSession) -> None:
        reply = session.post("/execute", {"command": "seq 1000"}).json()
        assert (len(reply["output"]), reply["truncated"], reply["returncode"]) == (50, True, 0)

    def test_tree_is_refused_not_cut(self, session: RunningSession) -> None:
        for number in range(21):
            session.write(f"many/{number}")
        assert refused(session, "/list_directory", {"path": "~/many"}) == (413, "too_large")

    def test_text_and_events(self, session: RunningSession) -> None:
        assert refused(session, "/clipboard", {"text": "x" * 31}) == (413, "too_large")
        assert refused(session, "/input", [{"type": "type", "text": "x" * 31}]) == (413, "too_large")
        assert refused(session, "/input", [{"type": "click"}] * 4) == (413, "too_large")

    def test_long_command_times_out(self, session: RunningSession) -> None:
        assert refused(session, "/execute", {"command": "sleep 30"}) == (504, "timeout")
        assert refused(session, "/execute", {"command": "true", "timeout": 6}) == (400, "bad_request")
