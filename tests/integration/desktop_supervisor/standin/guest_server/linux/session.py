"""Serves `POST /run` on the listening socket with file descriptor 3; every request must carry the secret."""

import json
import os
import socket
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingMixIn, UnixStreamServer
from typing import Any

SECRET = sys.stdin.readline().strip()


class StandInHandler(BaseHTTPRequestHandler):
    def log_message(self, *words: Any) -> None:
        pass

    def address_string(self) -> str:
        return "unix"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.headers["X-Secret"] != SECRET:
            self.answer(403, {})
        elif self.path == "/exit":
            self.answer(200, {})
            os._exit(body["status"])
        else:
            self.answer(200, run(body))

    def answer(self, status: int, value: dict[str, Any]) -> None:
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def run(body: dict[str, Any]) -> dict[str, Any]:
    command = body["command"]
    if body.get("detached"):
        process = subprocess.Popen(command, start_new_session=True)
        threading.Thread(target=process.wait, daemon=True).start()
        return {"pid": process.pid}
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=body["timeout"], errors="replace", check=False
        )
    except subprocess.TimeoutExpired:
        return {"returncode": None, "output": "", "error": "timeout"}
    return {"returncode": done.returncode, "output": done.stdout[-100000:], "error": done.stderr[-100000:]}


class StandInServer(ThreadingMixIn, UnixStreamServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__("", StandInHandler, bind_and_activate=False)
        self.socket.close()
        self.socket = socket.socket(fileno=int(os.environ["DESKARENA_LISTEN_FD"]))

    def get_request(self) -> tuple[socket.socket, Any]:
        return self.socket.accept()[0], ("unix", 0)


numbers = [0]
while numbers[-1] < int(os.environ.get("DESKARENA_PROTECTED_PIDS", "0")):
    thread = threading.Thread(target=int)
    thread.start()
    thread.join()
    numbers.append(thread.native_id or 0)
server = StandInServer()
sys.stdout.write(json.dumps({"ready": True, "screen": os.environ["DESKARENA_SCREEN"]}) + "\n")
sys.stdout.flush()
server.serve_forever()
