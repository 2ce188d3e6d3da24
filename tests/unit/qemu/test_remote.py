"""Who answers at a pod's address before it has shown who it is."""

import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from worker.qemu.client import SupervisorError
from worker.qemu.door import Door
from worker.qemu.lines import encode
from worker.qemu.remote import RemoteSupervisor, connect


class TestConnect:
    def test_one_that_never_comes_to_an_end_is_not_waited_for(self) -> None:
        over = threading.Event()

        def trickle(server: socket.socket) -> None:
            connection, _ = server.accept()
            with connection:
                while not over.wait(0.1):
                    connection.sendall(b" ")

        with socket.create_server(("127.0.0.1", 0)) as server:
            serving = threading.Thread(target=trickle, args=(server,))
            serving.start()
            begun = time.monotonic()
            try:
                with pytest.raises(SupervisorError, match="does not answer"):
                    connect(server.getsockname()[:2], "token", 1, seconds=0.5)
                assert time.monotonic() - begun < 5
            finally:
                over.set()
                serving.join()


class TestRemoteSupervisor:
    def test_one_that_does_not_say_what_it_is_is_left(self) -> None:
        def serve() -> list[str]:
            with Door(server, "token").wait() as line, line.makefile("rb") as lines:
                line.settimeout(5)
                line.sendall(encode({"event": "started"}))
                asked = json.loads(lines.readline())
                line.sendall(encode({"id": asked["id"], "ok": True}))
                return [asked["op"], *map(str, lines)]

        with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor() as serving:
            served = serving.submit(serve)
            with pytest.raises(SupervisorError, match="another version"):
                RemoteSupervisor(server.getsockname()[:2], "token", 1)
            assert served.result(5) == ["stop"], "its machines end, and so does the line"
