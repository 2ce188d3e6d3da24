"""The two processes of a test suite: `tests`, which the evaluation starts, and `program`, which that one starts.

    python -I -B _suite_processes.py tests FD      (a JSON object on stdin says what is tested; the answer goes to FD)
    python -I -B _suite_processes.py program FD    (FD is a socket to the tests)

The program has no descriptor, argument or variable that leads to the answer, and it cannot look into the process of the
tests: that one is not dumpable (no ptrace, no /proc/PID/mem or fd), and the program has no capabilities.
"""

import builtins
import contextlib
import ctypes
import importlib
import importlib.abc
import importlib.machinery
import json
import os
import resource
import signal
import socket
import subprocess
import sys
import types
from pathlib import Path
from typing import Any

if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parent))
    from _suite_peer import Peer, ProgramEnded, ProgramOutput  # type: ignore[import-not-found]
else:
    from backend.domain.evaluators.metrics.vscode._suite_peer import Peer, ProgramEnded, ProgramOutput

_PR_SET_DUMPABLE, _PR_CAPBSET_DROP, _PR_SET_NO_NEW_PRIVS, _MAX_CAPABILITY = 4, 24, 38, 64
_CAPABILITIES_VERSION_3 = 0x20080522
_NO_NETWORK = ("socket.connect", "socket.bind", "socket.sendto", "socket.getaddrinfo")


def refuse(event: str, _arguments: object) -> None:
    """An audit hook: the sandbox has no network; where there is none, an error says so."""
    if event in _NO_NETWORK:
        raise PermissionError("no network here")


def without_capabilities() -> None:
    """Gives up what root has: with it, the program could look into any process."""
    libc = ctypes.CDLL(None)
    for capability in range(_MAX_CAPABILITY):
        libc.prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)
    libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    libc.capset((ctypes.c_uint32 * 2)(_CAPABILITIES_VERSION_3, 0), (ctypes.c_uint32 * 6)())


def run_tests(descriptor: int) -> None:
    """Runs a function of the test file and says what it returned."""
    os.set_inheritable(descriptor, False)
    without_capabilities()
    ctypes.CDLL(None).prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)
    task = json.load(sys.stdin)
    for limit, most in (
        (resource.RLIMIT_CPU, task["seconds"]),
        (resource.RLIMIT_AS, 2 << 30),
        (resource.RLIMIT_FSIZE, 16 << 20),
        (resource.RLIMIT_NOFILE, 64),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(limit, (most, most))
    own_end, child_end = socket.socketpair()
    command = [sys.executable, "-I", "-B", __file__, "program", str(child_end.fileno())]
    program = subprocess.Popen(command, pass_fds=(child_end.fileno(),), stdin=subprocess.DEVNULL)  # noqa: S603 - ours.
    child_end.close()
    sys.addaudithook(refuse)
    peer = Peer(own_end, trusts=False, services={"input": read_input, "read_line": read_line})
    sys.meta_path.insert(0, ProgramFinder(peer, {*task["modules"], *task["libraries"]}))
    sys.path.pop(0)
    answer = outcome(task)
    if "ended" in answer:
        with contextlib.suppress(subprocess.TimeoutExpired):
            answer["killed"] = program.wait(2.0) == -signal.SIGKILL
    os.write(descriptor, json.dumps({**answer, "nonce": task["nonce"]}).encode())
    os._exit(0)


def read_input(prompt: str = "") -> str:
    return input(prompt)


def read_line() -> str:
    return sys.stdin.readline()


def outcome(task: dict[str, Any]) -> dict[str, Any]:
    module = types.ModuleType("dynamic_test_module")
    module.__file__ = task["path"]
    sys.modules["dynamic_test_module"] = module
    try:
        exec(compile(task["source"], task["path"], "exec"), module.__dict__)  # noqa: S102 - the task's own tests.
        test = getattr(module, task["function"], None)
        if not callable(test):
            return {"missing": True}
        value = test()
        number = float(value) if type(value) in {bool, int, float} else None
        return {"true": bool(value), "number": number}
    except ProgramEnded as error:
        return {"raised": str(error), "ended": True}
    except ModuleNotFoundError as error:
        return {"raised": f"ModuleNotFoundError: {error}"[:300], "module": error.name}
    except BaseException as error:  # noqa: BLE001 - whatever the tests raise is their result.
        return {"raised": f"{type(error).__name__}: {error}"[:300]}


class ProgramModule(types.ModuleType):
    """A module of the program, which is loaded in the program's process."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__all__":
            raise AttributeError(name)
        remote = self.__dict__["__remote__"]
        if name != "__all__":
            return getattr(remote, name)
        names = dir(remote)
        return list(remote.__all__) if "__all__" in names else [name for name in names if not name.startswith("_")]

    def __setattr__(self, name: str, value: Any) -> None:
        if name.startswith("__"):
            super().__setattr__(name, value)
        elif isinstance(value, ProgramModule):
            return  # The import of a submodule: the program's process has it already.
        else:
            setattr(self.__dict__["__remote__"], name, value)

    def __delattr__(self, name: str) -> None:
        delattr(self.__dict__["__remote__"], name)


class ProgramFinder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds the program's modules, and the libraries that it shares with its tests, in the program's process."""

    def __init__(self, peer: Any, names: set[str]) -> None:
        self._peer, self._names = peer, names

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name.partition(".")[0] not in self._names:
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return ProgramModule(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        again = "__remote__" in module.__dict__
        module.__dict__["__remote__"] = self._peer.ask("import", module.__name__, again)


def run_program(descriptor: int) -> None:
    """Loads modules of the program and does with them what the tests ask for."""
    sys.addaudithook(refuse)
    sys.path[0] = str(Path.cwd())
    sys.argv = ["main"]
    sys.stdout = ProgramOutput()
    line = socket.socket(fileno=descriptor)
    os.set_inheritable(descriptor, False)
    peer = Peer(line, trusts=True, services={"import": load})
    builtins.input = lambda prompt="": peer.ask("input", prompt)
    sys.stdin = Input(peer)
    del sys.modules["_suite_peer"], sys.modules["_suite_remote"]
    peer.serve_forever()
    os._exit(0)


class Input:
    """The tests' standard input."""

    def __init__(self, peer: Any) -> None:
        self._peer = peer

    def readline(self, *_most: int) -> str:
        return str(self._peer.ask("read_line"))

    def __iter__(self) -> Any:
        return iter(self.readline, "")

    def read(self, *_most: int) -> str:
        return "".join(self)


def load(name: str, again: bool) -> types.ModuleType:  # noqa: FBT001 - called by its place.
    module = importlib.import_module(name)
    return importlib.reload(module) if again else module


if __name__ == "__main__":
    {"tests": run_tests, "program": run_program}[sys.argv[1]](int(sys.argv[2]))
