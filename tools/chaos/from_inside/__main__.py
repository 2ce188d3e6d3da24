"""`make chaos ARGS=--from-inside`: agents end their own desktops, on every provider that runs here.

The exit code is 0 if no attempt was lost and every score is 0. `--write` writes the page of figures.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from backend.config import Settings
from backend.domain import registry
from backend.domain.ports.desktop import Provider
from tools.chaos.from_inside import report
from tools.chaos.from_inside.campaign import DeathOutcome, carry_out, summary
from tools.chaos.from_inside.death import Death
from tools.chaos.from_inside.linux_deaths import LINUX
from tools.chaos.from_inside.windows_deaths import WINDOWS
from worker.providers.local import LocalProvider
from worker.providers.qemu import QemuProvider

WINE = "wine"


def desktops(settings: Settings) -> Iterator[tuple[str, Provider, str, str, str]]:
    """Kinds of desktops: name, provider, image, system; and why there are none here, or empty."""
    with tempfile.TemporaryDirectory() as folder:
        local = LocalProvider(settings.model_copy(update={"data_dir": Path(folder)}))
        try:
            offer = local.availability()
            yield "local", local, "default", "linux", "" if offer.ok else offer.reason
            reasons = [image.reason for image in offer.images if image.name == WINE]
            yield "local, Wine", local, WINE, "windows", reasons[0] if reasons else "there is no image with Wine"
        finally:
            local.close()
    qemu = QemuProvider(settings)
    try:
        offer = qemu.availability()
        images = [image for image in offer.images if not image.reason]
        reason = offer.reason if not offer.ok else "there is no machine image"
        if not images:
            yield "qemu", qemu, "", "linux", reason
        for image in images:
            yield f"qemu, {image.name}", qemu, image.name, image.os, ""
    finally:
        qemu.close()


def run(provider: Provider, image: str, deaths: Sequence[Death]) -> list[DeathOutcome]:
    """Carries the deaths out one after another and prints each outcome."""
    outcomes = []
    for death in deaths:
        outcome = carry_out(death, provider, image)
        end = outcome.cause or "survived"
        line = f"{death.name}: {outcome.ended}, {outcome.score}, {outcome.ended_by}, {end}, {outcome.seconds:.1f} s"
        sys.stderr.write(f"{time.strftime('%H:%M:%S')} {line} {outcome.message[:300]}\n")
        outcomes.append(outcome)
    return outcomes


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns 0 if the rule held."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="only deaths whose name contains this")
    parser.add_argument("--on", default="", help="only kinds of desktops whose name contains this")
    parser.add_argument("--write", action="store_true", help="write the page of figures below docs")
    options = parser.parse_args(arguments)
    registry.load()
    results = dict[str, list[DeathOutcome]]()
    for name, provider, image, system, why_not in desktops(Settings()):
        if options.on not in name:
            continue
        if why_not:
            sys.stderr.write(f"not on {name}: {why_not}\n")
            continue
        deaths = [death for death in (*LINUX, *WINDOWS) if death.system == system and options.only in death.name]
        results[name] = run(provider, image, deaths)
        sys.stdout.write(f"{name}: {summary(results[name])}\n")
    if options.write:
        report.write(results)
    return 0 if all(outcome.passed for outcomes in results.values() for outcome in outcomes) else 1


if __name__ == "__main__":
    sys.exit(main())
