"""A QEMU with a configurable KVM: a wrapper of the real QEMU, which emulates.

`kvm` runs at emulation's ordinary speed and `tcg` some four times slower, without its usual short cuts between
translated blocks; or the other way round. What the KVM is to refuse makes the program abort as QEMU does.
"""

import json
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

from worker.qemu.machine import EMULATED_CPU

REAL = "/usr/bin/qemu-system-x86_64"


@dataclass(frozen=True)
class FakeKvm:
    """A device that is slow, refuses features or fails.

    Attributes:
        slow: is slower than emulation; else faster.
        refused: features of the processor and Hyper-V hints at which it aborts.
        message: what it prints for each start, which then fails; empty = it starts.
        clones: loads the state of a template.
    """

    slow: bool = False
    refused: tuple[str, ...] = ()
    message: str = ""
    clones: bool = True


@contextmanager
def fake_qemu(kvm: FakeKvm) -> Iterator[str]:
    """The program's path. Machines run as users of their own, who must be able to read it."""
    folder = Path(tempfile.mkdtemp(prefix="fake-kvm-"))
    folder.chmod(0o755)
    try:
        program = folder / "qemu-system-x86_64"
        # The system's Python: an environment's may lie where only its owner can read.
        program.write_text(f"#!/usr/bin/python3 -IS\n{_PROGRAM}\nmain({json.dumps(asdict(kvm))!r})\n")
        program.chmod(0o755)
        yield str(program)
    finally:
        shutil.rmtree(folder)


_PROGRAM = f"""
import json, os, sys

REAL, EMULATED_CPU = {REAL!r}, {EMULATED_CPU!r}


def abort(message):
    sys.stderr.write(f"qemu-system-x86_64: {{message}}\\n")
    sys.stderr.flush()
    os.abort()


def main(described):
    kvm, words = json.loads(described), sys.argv[1:]
    accelerator, cpu = words.index("-accel") + 1, words.index("-cpu") + 1
    with_kvm = words[accelerator] == "kvm"
    if with_kvm:
        names = words[cpu].split(",")
        if kvm["message"]:
            abort(kvm["message"])
        for each in kvm["refused"]:
            if (each in names) if each.startswith("hv-") else (f"-{{each}}" not in names):
                abort("error: failed to set MSR 0x40000021 to 0x0")
        if not kvm["clones"] and "-incoming" in words:
            abort("error: cannot load the state")
        words[cpu] = EMULATED_CPU
    words[accelerator] = "tcg,thread=multi"
    if with_kvm == kvm["slow"]:
        words += ["-d", "nochain"]
    os.execv(REAL, [REAL, *words])
"""
