"""The helper that runs as root in a machine, and the guest server's end of it. The clock is a list here."""

import json
import os
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from guest_server.linux.root_helper import RootHelperProcess, SystemPaths, answer, serve
from guest_server.linux.system import RootHelper
from guest_server.protocol.errors import GuestError
from tests.error_codes import raises_fields

KNOWN = b"-----BEGIN CERTIFICATE-----\nroot\n-----END CERTIFICATE-----"
OURS = "-----BEGIN CERTIFICATE-----\nab\ncd\n-----END CERTIFICATE-----\n"


@dataclass
class Running:
    """A helper that serves in a thread."""

    client: RootHelper
    socket: Path
    places: SystemPaths
    clock: list[tuple[int, float]]
    thread: threading.Thread


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Running]:
    places = SystemPaths(random=Path("/dev/random"), bundle=tmp_path / "bundle.crt", policies=tmp_path / "policies")
    places.bundle.write_bytes(KNOWN)
    clock: list[tuple[int, float]] = []
    helper = RootHelperProcess(places, lambda which, now: clock.append((which, now)))
    path, listener = tmp_path / "helper", socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()
    thread = threading.Thread(target=serve, args=(helper, listener))
    thread.start()
    client = RootHelper(str(path))
    yield Running(client, path, places, clock, thread)
    client.close()
    thread.join(60)
    assert not thread.is_alive()


class TestServe:
    def test_the_clock_is_set_in_whole_and_parts_of_seconds(self, running: Running) -> None:
        running.client.set_clock(1_700_000_000.25)
        assert running.clock == [(time.CLOCK_REALTIME, 1_700_000_000.25)]

    def test_accepts_only_one_connection(self, running: Running) -> None:
        running.client.set_clock(1.0)
        with raises_fields(GuestError, kind="not_available"):
            RootHelper(str(running.socket))
        assert running.clock == [(time.CLOCK_REALTIME, 1.0)]

    def test_random_numbers_are_reseeded_by_root_only(self, running: Running) -> None:
        if os.geteuid() == 0:
            running.client.add_entropy(b"x" * 64)
        else:
            with raises_fields(GuestError, kind="failed", mentions="not permitted"):
                running.client.add_entropy(b"x" * 64)

    def test_a_refusal_of_the_system_is_reported_and_the_next_request_is_answered(self, running: Running) -> None:
        running.places.bundle.unlink()
        running.places.bundle.mkdir()
        with raises_fields(GuestError, kind="failed", mentions="IsADirectoryError"):
            running.client.trust(OURS)
        running.client.set_clock(2.0)

    def test_a_helper_that_has_gone_is_reported(self, tmp_path: Path) -> None:
        with raises_fields(GuestError, kind="not_available"):
            RootHelper(str(tmp_path / "nothing"))


class TestTrust:
    def test_an_authority_is_added_and_taken_away(self, running: Running) -> None:
        running.client.trust(OURS)
        assert running.places.bundle.read_bytes() == KNOWN + b"\n" + OURS.encode()
        policy = running.places.policies / "managed" / "deskarena.json"
        assert json.loads(policy.read_text()) == {"CACertificates": ["abcd"]}
        running.client.trust("")
        assert running.places.bundle.read_bytes() == KNOWN
        assert not running.places.policies.exists()

    def test_a_system_without_a_bundle_gets_none(self, tmp_path: Path) -> None:
        places = SystemPaths(bundle=tmp_path / "none", policies=tmp_path / "policies")
        RootHelperProcess(places).do({"do": "trust", "value": OURS})
        assert not places.bundle.exists()


class TestAnswer:
    @pytest.mark.parametrize("line", [b"", b"{", b"[1]", b'"x"', b'{"do": "rm"}', b'{"do": "clock", "value": "x"}'])
    def test_malformed_requests_are_reported(self, tmp_path: Path, line: bytes) -> None:
        helper = RootHelperProcess(
            SystemPaths(bundle=tmp_path / "none"), lambda *_: pytest.fail("nothing was asked for")
        )
        assert json.loads(answer(helper, line))["error"]
