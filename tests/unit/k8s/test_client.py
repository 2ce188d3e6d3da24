"""The client's handling of answers and timeouts. On a cluster: `tests/contract/test_kubernetes.py`."""

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.error_codes import raises_fields
from worker.k8s import client
from worker.k8s.client import IN_CLUSTER, Kubernetes, configured, connect, error_of
from worker.k8s.cluster import PODS, ClusterUnavailable, ObjectConflict, ObjectNotFound, RequestRefused, VersionGone

LINES: tuple[dict[str, Any], ...] = (
    {"type": "ADDED", "object": {"metadata": {"name": "a", "resourceVersion": "5"}}},
    {"type": "BOOKMARK", "object": {"metadata": {"resourceVersion": "9"}}},
)
EXPIRED: dict[str, Any] = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version"}


NO_LISTS: dict[str, dict[str, Any]] = {
    "pieces": {"items": [], "metadata": {"continue": "2"}},
    "numbers": {"items": [1]},
    "word": {"items": "none"},
    "about": {"items": [], "metadata": "none"},
    "each": {"items": [{"metadata": None}]},
    "long": {"items": [{"text": "." * 2**20}]},
}
"""Of pods, by the label that is asked for."""
NO_CHANGES: dict[str, dict[str, Any]] = {
    "11": {"type": "ADDED", "object": {"metadata": None}},
    "12": {"type": "ADDED", "object": {"metadata": "none"}},
    "13": {"type": "ERROR", "object": {"code": "many", "message": "it says so"}},
    "14": {"type": "ERROR", "object": {"code": [1], "message": "it says so"}},
    "15": {"type": "ADDED", "object": {"text": "." * 2**20}},
}
"""By the version that is watched from."""


class WatchServer(BaseHTTPRequestHandler):
    """Answers a watch by what its version asks for; a list in two pieces, or by its label as `NO_LISTS` has it."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        if "labelSelector=none" in self.path:
            self._whole({"items": [{}]})
            return
        asked = {name: said[0] for name, said in parse_qs(urlsplit(self.path).query).items()}
        if (no_list := NO_LISTS.get(asked.get("labelSelector", ""))) is not None:
            self._whole({"kind": "PodList", "apiVersion": "v1", **no_list})
            return
        if "watch=true" not in self.path:
            more: dict[str, Any] = {"continue": "2"} if "continue=" not in self.path else {}
            about = {"kind": "PodList", "apiVersion": "v1", "metadata": {"resourceVersion": "7", **more}}
            self._whole({**about, "items": [{"n": len(more)}]})
            return
        self.send_response(200)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        no_change = NO_CHANGES.get(asked["resourceVersion"])
        lines = LINES if no_change is None else (no_change,)
        if "resourceVersion=1&" in self.path:
            lines = (*LINES, {"type": "ERROR", "object": EXPIRED})
        self._chunk(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
        if "resourceVersion=3&" in self.path:
            self.server.silent.wait(20)  # type: ignore[attr-defined]
        if "resourceVersion=2&" not in self.path:
            self._chunk(b"")
        self.close_connection = True

    def _whole(self, body: Any) -> None:
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")

    def log_message(self, *_: object) -> None:
        """Says nothing."""


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Kubernetes]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), WatchServer)
    server.silent = threading.Event()  # type: ignore[attr-defined]
    serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    serving.start()
    made = connect(kubeconfig(tmp_path, server.server_address[1]), "")
    yield made
    made.close()
    server.silent.set()  # type: ignore[attr-defined]
    server.shutdown()
    serving.join()
    server.server_close()


@contextmanager
def answering(sent: bytes) -> Iterator[int]:
    """A port at which the first request is answered so, and the line is closed."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            line, _ = server.accept()
            with line:
                line.recv(2**16)
                line.sendall(sent)

        serving = threading.Thread(target=serve)
        serving.start()
        yield server.getsockname()[1]
        serving.join()


def kubeconfig(folder: Path, port: int) -> str:
    """A file that leads to a port of this machine."""
    file = folder / "kubeconfig"
    told = {
        "current-context": "it",
        "contexts": [{"name": "it", "context": {"cluster": "it", "user": "it"}}],
        "clusters": [{"name": "it", "cluster": {"server": f"http://127.0.0.1:{port}"}}],
        "users": [{"name": "it", "user": {"token": "t"}}],
    }
    file.write_text(json.dumps(told))
    return str(file)


class TestList:
    def test_pieces_are_one_list(self, cluster: Kubernetes) -> None:
        result = cluster.list(PODS)
        assert [each["n"] for each in result.items] == [1, 0]
        assert result.version == "7"

    def test_each_says_what_it_is_as_if_asked_for_by_name(self, cluster: Kubernetes) -> None:
        assert {(each["apiVersion"], each["kind"]) for each in cluster.list(PODS).items} == {("v1", "Pod")}

    def test_replies_other_than_a_list_are_unavailable(self, cluster: Kubernetes) -> None:
        with raises_fields(ClusterUnavailable, reason="invalid_response"):
            cluster.list(PODS, labels="none")

    @pytest.mark.parametrize("what", [name for name in NO_LISTS if name not in {"pieces", "long"}])
    def test_a_list_of_what_are_no_objects_is_unavailable(self, cluster: Kubernetes, what: str) -> None:
        with raises_fields(ClusterUnavailable, reason="invalid_response"):
            cluster.list(PODS, labels=what)

    def test_endless_list_is_unavailable(self, cluster: Kubernetes, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(client, "MOST_PIECES", 5)
        with raises_fields(ClusterUnavailable, reason="response_too_long", mentions="5 pages"):
            cluster.list(PODS, labels="pieces")

    def test_oversized_list_is_unavailable(self, cluster: Kubernetes, monkeypatch: pytest.MonkeyPatch) -> None:
        assert len(cluster.list(PODS, labels="long").items) == 1
        monkeypatch.setattr(client, "LONGEST_ANSWER", 2**19)
        with raises_fields(ClusterUnavailable, reason="response_too_long", mentions="524288 bytes"):
            cluster.list(PODS, labels="long")

    def test_unreachable_server_is_unavailable(self, tmp_path: Path) -> None:
        with raises_fields(ClusterUnavailable, reason="no_response", mentions="connection refused"):
            connect(kubeconfig(tmp_path, 1), "").list(PODS)

    @pytest.mark.parametrize(
        ("sent", "words"),
        [
            (b"", "it closed the connection"),
            (b"HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\nx", "it closed the connection"),
            (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nx", "it closed the connection"),
            (b"SSH-2.0-OpenSSH_9.2\r\n", "the response is not HTTP"),
        ],
    )
    def test_truncated_replies_are_described(self, tmp_path: Path, sent: bytes, words: str) -> None:
        with answering(sent) as port, pytest.raises(ClusterUnavailable) as caught:
            connect(kubeconfig(tmp_path, port), "").get(PODS, "one")
        assert caught.value.message == f"the API server does not respond: {words}"

    def test_a_name_that_is_unknown_is_reported_in_words(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        file = Path(kubeconfig(tmp_path, 1))
        file.write_text(file.read_text().replace("127.0.0.1", "nobody.invalid"))

        def resolve(*_: object) -> None:
            raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

        resolver = SimpleNamespace(**{**vars(socket), "getaddrinfo": resolve})
        monkeypatch.setattr("urllib3.util.connection.socket", resolver)
        with raises_fields(ClusterUnavailable, reason="no_response", mentions="its name cannot be resolved"):
            connect(str(file), "").list(PODS)


class TestWatch:
    def test_yields_changes_with_versions_until_the_end(self, cluster: Kubernetes) -> None:
        with cluster.watch(PODS, "0") as watching:
            changes = list(watching)
        assert [(each.type, each.version) for each in changes] == [("ADDED", "5"), ("BOOKMARK", "9")]

    def test_a_version_that_is_too_old_is_gone(self, cluster: Kubernetes) -> None:
        with cluster.watch(PODS, "1") as watching, raises_fields(VersionGone, code=410, reason="Expired"):
            list(watching)

    def test_a_broken_line_is_unavailable(self, cluster: Kubernetes) -> None:
        with (
            cluster.watch(PODS, "2") as watching,
            raises_fields(ClusterUnavailable, reason="no_response", mentions="it closed the connection"),
        ):
            list(watching)

    def test_a_silent_line_is_unavailable(self, cluster: Kubernetes, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(client, "LATE_SECONDS", 0.3)
        with (
            cluster.watch(PODS, "3", seconds=0.1) as watching,
            raises_fields(ClusterUnavailable, reason="no_response", mentions="timeout"),
        ):
            list(watching)

    @pytest.mark.parametrize(
        ("version", "reason", "mentions"),
        [
            ("11", "invalid_response", ""),
            ("12", "invalid_response", ""),
            ("13", "", "it says so"),
            ("14", "", "it says so"),
        ],
    )
    def test_lines_other_than_events_are_unavailable(
        self, cluster: Kubernetes, version: str, reason: str, mentions: str
    ) -> None:
        with (
            cluster.watch(PODS, version) as watching,
            raises_fields(ClusterUnavailable, code=0, reason=reason, mentions=mentions),
        ):
            list(watching)

    def test_a_line_that_is_too_long_is_unavailable(self, cluster: Kubernetes, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(client, "LONGEST_LINE", 2**19)
        with (
            cluster.watch(PODS, "15") as watching,
            raises_fields(ClusterUnavailable, reason="response_too_long", mentions="524288 bytes"),
        ):
            list(watching)

    def test_closing_wakes_a_waiting_reader(self, cluster: Kubernetes) -> None:
        heard = threading.Event()
        with cluster.watch(PODS, "3") as watching:

            def hear() -> None:
                for _ in watching:
                    heard.set()

            waiting = threading.Thread(target=hear)
            waiting.start()
            assert heard.wait(60)
            watching.close()
            waiting.join(60)
            assert not waiting.is_alive()


class TestErrorOf:
    @pytest.mark.parametrize(
        ("code", "kind"),
        [
            (404, ObjectNotFound),
            (409, ObjectConflict),
            (410, VersionGone),
            (403, RequestRefused),
            (422, RequestRefused),
            (429, ClusterUnavailable),
            (503, ClusterUnavailable),
        ],
    )
    def test_by_status_with_the_servers_words(self, code: int, kind: type[Exception]) -> None:
        error = error_of(code, json.dumps({"message": "it says so", "reason": "Word"}))
        assert type(error) is kind
        assert (error.message, error.code, error.reason) == ("it says so", code, "Word")

    def test_without_a_status_the_phrase_is_the_message(self) -> None:
        assert error_of(502, "Bad Gateway").message == "Bad Gateway"


class TestConfigured:
    def test_by_a_file_or_within_a_cluster(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv(IN_CLUSTER, raising=False)
        assert configured("some-file")
        assert not configured("")
        monkeypatch.setenv(IN_CLUSTER, "10.0.0.1")
        assert configured("")

    def test_a_file_that_is_none_is_unavailable(self, tmp_path: Path) -> None:
        with raises_fields(ClusterUnavailable, reason="not_configured"):
            connect(str(tmp_path / "none"), "")
