"""Chooses how this host's machines run: with KVM only if a guest is clearly faster with it than emulated.

A /dev/kvm that exists and opens says little. KVM may be a software KVM that is 20 times slower than QEMU's emulation;
it may refuse processor features or Hyper-V hints, and QEMU then aborts; it may boot a machine and be unable to load a
clone's state. So the probe's guest runs with each accelerator on the command line of a real machine, and what is
refused is left out and named. The standard library only: this runs in pods, too.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from worker.base.errors import CodedError
from worker.qemu.acceleration import DEVICE, Acceleration, AccelerationReason
from worker.qemu.acceleration_cache import locked_cache
from worker.qemu.machine import EMULATED_CPU, KVM, TCG, MachineSpec
from worker.qemu.probe import ProbeHost, ProbeTimeout, probe_host
from worker.qemu.process import QemuFailed

AUTO = "auto"
SETTINGS = (AUTO, KVM, TCG)
CLEARLY = 1.5
"""KVM is used if emulation takes at least this many times as long."""
_PATIENCE = 20.0
"""KVM's guest is given up after this many times the emulated guest's seconds, or after LIMIT."""
LIMIT = 30.0
"""Time limit of a guest in seconds."""
_DECISIVE = 2.0
"""If one takes this many times as long as the other, one run of each decides; else the best of _ROUNDS."""
_ROUNDS = 3
_FEATURES = ("arch-capabilities", "pdcm", "core-capability", "tsx-ctrl", "vmx", "svm", "xsaves", "pmu")
"""CPU features backed by registers that a KVM may refuse."""
HINTS = ("hv-relaxed", "hv-vapic", "hv-spinlocks=0x1fff", "hv-time", "hv-crash")
"""Makes Windows use a hypervisor's clock, and report blue screens; emulation has none."""


class KvmRefused(CodedError):
    """The setting requires KVM, and no machine runs with it; the message says why."""

    code = "kvm_refused"


def acceleration(
    machine: MachineSpec, windows: MachineSpec, *, setting: str = AUTO, fresh: bool = False, notes: Path | None = None
) -> Acceleration:
    """Measures, or reads a measurement made since this host started.

    Args:
        machine: a small machine like those of Linux images; its accelerator and CPU are replaced.
        windows: likewise for Windows images.
        setting: one of SETTINGS.
        fresh: measure in any case.
        notes: folder for measurements, which hosts may share; None = this user's temporary folder.

    Raises:
        KvmRefused: The setting is `kvm`, and no machine runs with it.
        QemuFailed: QEMU cannot emulate a machine either.
        OSError: no temporary folder is available.
    """
    with locked_cache(setting, notes) as cache:
        choice = None if fresh else cache.read()
        if choice is None:
            with probe_host() as host:
                choice = Chooser(host, machine, windows, setting).choose()
            cache.write(choice)
    if setting == KVM and choice.emulated:
        raise KvmRefused(
            f"DESKARENA_ACCELERATOR is kvm, but KVM cannot be used: {choice.detail}{choice.figures}. "
            "Set it to auto to have machines emulated."
        )
    return choice


class Chooser:
    """Makes one choice on one host."""

    def __init__(self, host: ProbeHost, machine: MachineSpec, windows: MachineSpec, setting: str) -> None:
        self._host, self._setting = host, setting
        self._emulated = replace(machine, accelerator=TCG, cpu=EMULATED_CPU)
        self._kvm, self._windows = replace(machine, accelerator=KVM), replace(windows, accelerator=KVM)
        self._seconds: dict[str, Mapping[str, float]] = {}

    def choose(self) -> Acceleration:
        """Result of `acceleration`. Raises QemuFailed if emulation does not work."""
        try:
            self._measure(TCG, self._host.run(self._emulated, LIMIT))
        except ProbeTimeout as timeout:
            raise QemuFailed(f"QEMU's emulation is too slow here: {timeout}", code="emulation_too_slow") from timeout
        if self._setting == TCG:
            return self._emulate(AccelerationReason.SET, "DESKARENA_ACCELERATOR is tcg")
        if not DEVICE.exists():
            return self._emulate(AccelerationReason.NO_DEVICE, f"{DEVICE} does not exist")
        if problem := self._host.starts(replace(self._kvm, cpu=_cpu(()))):
            if "permission denied" in problem.lower():
                return self._emulate(AccelerationReason.NO_ACCESS, f"QEMU's user may not open {DEVICE}")
            return self._emulate(AccelerationReason.NO_START, problem)
        features = accepted_options(
            _FEATURES, lambda combination: not self._host.starts(replace(self._kvm, cpu=_cpu(combination)))
        )
        return self._compare(_cpu(features), tuple(feature for feature in _FEATURES if feature not in features))

    def _compare(self, cpu: str, refused: tuple[str, ...]) -> Acceleration:
        machine = replace(self._kvm, cpu=cpu)
        try:
            times = self._times_faster(machine)
            if times < CLEARLY and self._setting == AUTO:
                return self._emulate(AccelerationReason.SLOWER, _slower(times), refused)
            self._host.run_and_clone(machine, self._limit())
        except ProbeTimeout as timeout:
            self._seconds[KVM] = timeout.seconds
            over = self._limit() / self._total(TCG)
            return self._emulate(AccelerationReason.SLOWER, f"slower than emulation (over {over:.0f} times)", refused)
        except QemuFailed as error:
            return self._emulate(AccelerationReason.NO_START, f"a trial machine failed: {error}", refused)
        hints = accepted_options(
            HINTS, lambda combination: self._runs(replace(self._windows, cpu=",".join((cpu, *combination))))
        )
        return Acceleration(
            accelerator=KVM,
            reason=AccelerationReason.FASTER if self._setting == AUTO else AccelerationReason.SET,
            detail=f"{times:.1f} times faster than emulation" if times >= 1 else _slower(times),
            cpu=cpu,
            hints=hints,
            refused=(*refused, *(hint for hint in HINTS if hint not in hints)),
            seconds=self._seconds,
        )

    def _times_faster(self, machine: MachineSpec) -> float:
        """Emulation's seconds divided by KVM's: one run each if the result is clear, else the best of a few."""
        times = 1.0
        for _ in range(_ROUNDS):
            self._measure(KVM, self._host.run(machine, self._limit()))
            times = self._total(TCG) / self._total(KVM)
            if not 1 / _DECISIVE < times < _DECISIVE:
                break
            self._measure(TCG, self._host.run(self._emulated, LIMIT))
        return times

    def _limit(self) -> float:
        return min(self._total(TCG) * _PATIENCE, LIMIT) if self._setting == AUTO else LIMIT

    def _runs(self, machine: MachineSpec) -> bool:
        try:
            self._host.run_and_clone(machine, LIMIT)
        except (QemuFailed, ProbeTimeout):
            return False
        return True

    def _measure(self, accelerator: str, seconds: Mapping[str, float]) -> None:
        if accelerator not in self._seconds or sum(seconds.values()) < self._total(accelerator):
            self._seconds[accelerator] = seconds

    def _total(self, accelerator: str) -> float:
        return sum(self._seconds[accelerator].values())

    def _emulate(self, reason: AccelerationReason, detail: str, refused: tuple[str, ...] = ()) -> Acceleration:
        return Acceleration(accelerator=TCG, reason=reason, detail=detail, refused=refused, seconds=self._seconds)


def accepted_options(options: Sequence[str], works: Callable[[tuple[str, ...]], bool]) -> tuple[str, ...]:
    """Options that work together: all, or found by adding one after another.

    Args:
        options: in the order of testing.
        works: tests some of them.
    """
    if works(tuple(options)):
        return tuple(options)
    combination: tuple[str, ...] = ()
    for option in options:
        if works((*combination, option)):
            combination = (*combination, option)
    return combination


def _cpu(features: Sequence[str]) -> str:
    """The host's CPU without those of _FEATURES that are not listed."""
    return ",".join(("host", *(f"-{feature}" for feature in _FEATURES if feature not in features)))


def _slower(times: float) -> str:
    return (
        f"slower than emulation ({1 / times:.1f} times)"
        if times < 1
        else f"only {times:.1f} times faster than emulation"
    )
