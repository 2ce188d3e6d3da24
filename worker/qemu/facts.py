"""What this host gives to machines, as a supervisor tells it: plain values, no library."""

import hashlib
import re
import subprocess
from pathlib import Path
from typing import Any

from worker.qemu.arguments import PROGRAM
from worker.qemu.machine import KVM, TCG

UEFI = Path("/usr/share/OVMF")
UEFI_CODE, UEFI_VARS = "OVMF_CODE_4M.fd", "OVMF_VARS_4M.fd"
_ALIAS = re.compile(r"^q35\s.*\(alias of (pc-q35-[\w.]+)\)", re.MULTILINE)
_ASK_SECONDS = 20.0


class NoQemu(Exception):  # noqa: N818 - says what there is not.
    """There is no QEMU that could be used; the text says why."""


def facts(why_not_kvm: str) -> dict[str, Any]:
    """The fields of `worker.qemu.plan.Host`.

    Args:
        why_not_kvm: what happened when a machine was booted with it; empty if that went well.

    Raises:
        NoQemu: none that could be used.
    """
    found = _ALIAS.search(_said("-machine", "help"))
    if found is None:
        raise NoQemu(f"this {PROGRAM} knows no machine q35")
    return {
        "qemu": _said("--version").partition("\n")[0].strip(),
        "type": found[1],
        "accelerator": TCG if why_not_kvm else KVM,
        "why_slow": why_not_kvm,
        "processor": "" if why_not_kvm else _processor(),
        "uefi": (UEFI / UEFI_CODE).is_file(),
    }


def _said(*words: str) -> str:
    try:
        done = subprocess.run(
            [PROGRAM, *words],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=_ASK_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise NoQemu(f"{PROGRAM} cannot be used: {error}") from error
    return done.stdout


def _processor() -> str:
    names = ("vendor_id", "cpu family", "model", "model name", "stepping", "flags")
    first = Path("/proc/cpuinfo").read_text().split("\n\n")[0].splitlines()
    return hashlib.sha256("\n".join(line for line in first if line.startswith(names)).encode()).hexdigest()
