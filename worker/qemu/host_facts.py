"""Facts about this host for machines, as reported by a supervisor: plain values, standard library only.

`python -S -m worker.qemu.host_facts` prints them as JSON. The worker and `deskarena doctor` use it, since QEMU needs a
single-threaded parent.
"""

import argparse
import hashlib
import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

from worker.base.errors import CodedError
from worker.local import kernel
from worker.qemu.accelerator import AUTO, SETTINGS, KvmRefused, acceleration
from worker.qemu.arguments import PROGRAM
from worker.qemu.machine import EMULATED_CPU, TCG, WINDOWS, MachineSpec
from worker.qemu.process import QemuFailed

UEFI = Path("/usr/share/OVMF")
UEFI_CODE, UEFI_VARS = "OVMF_CODE_4M.fd", "OVMF_VARS_4M.fd"
NO_QEMU_EXIT, KVM_REFUSED_EXIT = 3, 4
_ALIAS = re.compile(r"^q35\s.*\(alias of (pc-q35-[\w.]+)\)", re.MULTILINE)
_ASK_SECONDS = 20.0
_PROBE_MEMORY_MIB = 256


class QemuUnavailable(CodedError):
    """There is no usable QEMU; the message says why."""

    code = "qemu_unavailable"


def facts(setting: str = AUTO, *, fresh: bool = False, notes: Path | None = None) -> dict[str, Any]:
    """The fields of `worker.qemu.plan.Host`.

    Args:
        setting: which accelerator; one of `accelerator.SETTINGS`.
        fresh: ignore the cached measurement.
        notes: folder of cached measurements; None = this user's temporary folder.

    Raises:
        QemuUnavailable: There is no usable QEMU.
        KvmRefused: The setting is `kvm`, and no machine runs with it.
    """
    alias = _ALIAS.search(_output("-machine", "help"))
    if alias is None:
        raise QemuUnavailable(f"this {PROGRAM} does not support the machine q35")
    uefi = (UEFI / UEFI_CODE).is_file()
    machine = _probe_machine(alias[1])
    windows = replace(machine, system=WINDOWS)
    if uefi:
        code, variables = str(UEFI / UEFI_CODE), str(UEFI / UEFI_VARS)
        windows = replace(windows, firmware="uefi", firmware_code=code, firmware_vars=variables)
    try:
        choice = acceleration(machine, windows, setting=setting, fresh=fresh, notes=notes)
    except (QemuFailed, OSError) as error:
        raise QemuUnavailable(str(error)) from error
    return {
        "qemu": _output("--version").partition("\n")[0].strip(),
        "type": alias[1],
        "acceleration": choice.to_json(),
        "processor": "" if choice.emulated else _processor(),
        "uefi": uefi,
    }


def _probe_machine(machine_type: str) -> MachineSpec:
    return MachineSpec(
        system="linux",
        type=machine_type,
        accelerator=TCG,
        cpu=EMULATED_CPU,
        cpus=2,
        memory_mib=_PROBE_MEMORY_MIB,
        screen=(800, 600),
        disk="",
        disk_size=2**20,
    )


def _output(*words: str) -> str:
    try:
        process = subprocess.run(
            [PROGRAM, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_ASK_SECONDS,
            check=True,
        )
    except FileNotFoundError as error:
        raise QemuUnavailable(f"QEMU is not installed: program {PROGRAM} not found") from error
    except (OSError, subprocess.SubprocessError) as error:
        raise QemuUnavailable(f"{PROGRAM} cannot be used: {error}") from error
    return process.stdout


def _processor() -> str:
    names = ("vendor_id", "cpu family", "model", "model name", "stepping", "flags")
    first = Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines()
    return hashlib.sha256("\n".join(line for line in first if line.startswith(names)).encode()).hexdigest()


def main() -> int:
    """Prints the facts; otherwise prints the reason to stderr and exits with one of the codes above."""
    parser = argparse.ArgumentParser(description="Prints facts about this host for virtual machines.")
    parser.add_argument("--accelerator", choices=SETTINGS, default=AUTO)
    parser.add_argument("--fresh", action="store_true", help="Measure again.")
    options = parser.parse_args()
    kernel.adopt_orphans()
    try:
        sys.stdout.write(json.dumps(facts(options.accelerator, fresh=options.fresh)) + "\n")
    except (QemuUnavailable, KvmRefused) as error:
        sys.stderr.write(f"{error}\n")
        return KVM_REFUSED_EXIT if isinstance(error, KvmRefused) else NO_QEMU_EXIT
    return 0


if __name__ == "__main__":
    sys.exit(main())
