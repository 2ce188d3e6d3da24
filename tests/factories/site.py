"""The service of an installation on a free port, for browsers."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import uvicorn

from backend.config import Settings
from backend.web.app import create_app
from tests.factories.records import World
from tests.waiting import until


@contextmanager
def served(world: World, data: Path, root_path: str = "", *, sockets: bool = True, **settings: Any) -> Iterator[str]:
    """Its address, without its path; `data`: an empty folder; `sockets`: some proxies let none be opened."""
    app = create_app(Settings(data_dir=data, root_path=root_path, **settings), world.factory, world.store)
    config = uvicorn.Config(app, port=0, log_level="error", ws="websockets-sansio" if sockets else "none")
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        until(lambda: server.started, 30, what="the service answers")
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(30)
