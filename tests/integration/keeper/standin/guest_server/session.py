"""Serves `POST /run` on the listening socket with file descriptor 3; every request must carry the secret."""

import json
import os
import socket
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler
from socketserver import ThreadingMixIn, UnixStreamServer

SECRET = sys.stdin.readline().strip()


class Handler(BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def address_string(self):
        return "unix"

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if self.headers["X-Secret"] != SECRET:
            self.answer(403, {})
        elif self.path == "/exit":
            self.answer(200, {})
            os._exit(body["status"])
        else:
            self.answer(200, run(body))

    def answer(self, status, value):
        data = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def run(body):
    if body.get("detached"):
        process = subprocess.Popen(body["command"], start_new_session=True)
        threading.Thread(target=process.wait, daemon=True).start()
        return {"pid": process.pid}
    try:
        done = subprocess.run(
            body["command"], capture_output=True, text=True, timeout=body["timeout"], errors="replace"
        )
    except subprocess.TimeoutExpired:
        return {"returncode": None, "output": "", "error": "timeout"}
    return {"returncode": done.returncode, "output": done.stdout[-100000:], "error": done.stderr[-100000:]}


class Server(ThreadingMixIn, UnixStreamServer):
    daemon_threads = True

    def __init__(self):
        super().__init__("", Handler, bind_and_activate=False)
        self.socket.close()
        self.socket = socket.socket(fileno=int(os.environ["DESKARENA_LISTEN_FD"]))

    def get_request(self):
        return self.socket.accept()[0], ("unix", 0)


server = Server()
print(json.dumps({"ready": True, "screen": os.environ["DESKARENA_SCREEN"]}), flush=True)
server.serve_forever()
