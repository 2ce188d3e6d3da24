"""A session behind its filter, in a process namespace of its own; needs root."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

import guest_server.linux.protected_session as module
from worker.local.seccomp import MACHINE_PIDS, MACHINES, session_program

START = """
import sys, types
source, program, first, *command = sys.argv[1:]
module = types.ModuleType("protected_session")
exec(open(source).read(), module.__dict__)
module.protect(open(program, "rb").read(), int(first)) or sys.exit("not protected")
sys.exit(module.run(command))
"""
SESSION = """
import os, signal
print(os.getpid())
print([line.split()[1] for line in open("/proc/self/status") if line.startswith(("CapPrm", "CapEff", "CapAmb"))])
for process in (os.getpid(), -os.getpid(), -1):
    try: os.kill(process, signal.SIGSTOP)
    except PermissionError: print("refused")
"""
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
AS_THE_UNIT = [*NOBODY, "--inh-caps=+sys_admin", "--ambient-caps=+sys_admin"]

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("setpriv") or os.uname().machine not in MACHINES,
    reason="needs root, setpriv and a known architecture",
)


def test_its_processes_cannot_be_signalled_and_have_no_rights(tmp_path: Path) -> None:
    folder = tmp_path
    while folder != folder.parent and folder.owner() == "root" and not folder.stat().st_mode & 1:
        folder.chmod(folder.stat().st_mode | 0o11)
        folder = folder.parent
    program, source = tmp_path / "filter", tmp_path / "source"
    program.write_bytes(session_program(MACHINES[os.uname().machine]))
    source.write_text(Path(module.__file__).read_text())
    own_namespace = ["unshare", "--pid", "--fork", "--mount-proc", *AS_THE_UNIT]
    command = ["/usr/bin/python3", "-c", START, str(source), str(program), str(MACHINE_PIDS.first)]
    session = ["/usr/bin/python3", "-c", SESSION]
    done = subprocess.run([*own_namespace, *command, *session], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stderr
    pid, rights, *results = done.stdout.splitlines()
    assert int(pid) == MACHINE_PIDS.first
    assert rights == str(["0" * 16] * 3)
    assert results == ["refused"] * 3
