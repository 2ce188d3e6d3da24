"""Who answers at a pod's address before it has shown who it is."""

import socket
import threading
import time

import pytest

from worker.qemu.client import SupervisorError
from worker.qemu.remote import connect


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
