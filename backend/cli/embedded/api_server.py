"""The API as a child of the embedded stack: uvicorn on a socket that the supervisor has opened.

The supervisor keeps the socket, so a port that is taken is known before anything starts, and while a crashed API starts
again its visitors wait instead of being refused. Runs as `python -m backend.cli.embedded.api_server FD`.
"""

import os
import socket
import sys

import uvicorn

SHUTDOWN_SECONDS = 3


def main() -> None:
    """Serve until SIGTERM."""
    config = uvicorn.Config(
        "backend.web.app:app",
        log_level=os.environ.get("DESKARENA_LOG_LEVEL", "info").lower(),
        server_header=False,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )
    uvicorn.Server(config).run(sockets=[socket.socket(fileno=int(sys.argv[1]))])


if __name__ == "__main__":
    main()
