"""`vm_images/windows/accept`: builds an image, or takes an existing one, and tests everything that a run needs."""

import argparse
import sys
from datetime import UTC, datetime
from pathlib import Path

from backend.config import Settings, get_settings
from backend.domain import registry
from backend.domain.errors import Unavailable
from backend.domain.formats.foreign_text import visible_streams
from backend.domain.machines.machine_image import read_image
from backend.domain.machines.slots import SlotRef
from backend.domain.ports.desktop import DesktopSpec, Provider
from worker.images.checks import CheckResult
from worker.images.windows.__main__ import main as build
from worker.images.windows.accept.report import AcceptanceReport, Section, host_facts
from worker.images.windows.accept.resets import RESETS, first_start, nothing_left, resets, screens
from worker.images.windows.accept.routes import WINDOWS, ask_all
from worker.images.windows.accept.tasks import solve
from worker.qemu.plan import this_host
from worker.qemu.templates import Template

WELL, NOT_WELL = 0, 1


def main(arguments: list[str] | None = None) -> int:
    """Returns 0 if all tests passed, else 1; the report has the failures."""
    args, for_build = _parser().parse_known_args(arguments)
    data = (args.data or get_settings().data_dir).expanduser().absolute()
    data.mkdir(parents=True, exist_ok=True)
    report = AcceptanceReport(data / f"acceptance-{datetime.now(UTC):%Y%m%d-%H%M%S}.json", _say)
    report.section("host", lambda: _host(anyway=args.without_kvm))
    if report.ok and _build(report, args, data, for_build):
        _run_sections(report, args, data)
    _say(f"\n{('accepted' if report.ok else 'NOT accepted')}; please send back the report: {report.file}")
    return WELL if report.ok else NOT_WELL


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="vm_images/windows/accept",
        description="Acceptance test of a Windows image on a machine with KVM.",
        epilog="All other options are those of the build: python -m worker.images.windows --help",
    )
    parser.add_argument("--name", default="windows", help=("Name of the image; an existing one is not built again."))
    parser.add_argument("--data", type=Path, help="Data folder (default: DESKARENA_DATA_DIR).")
    parser.add_argument(
        "--waa", type=Path, help=("Folder of WindowsAgentArena as published; without it no tasks are run.")
    )
    parser.add_argument("--resets", type=int, default=RESETS, help=f"Number of resets (default: {RESETS}).")
    parser.add_argument("--without-kvm", action="store_true", help=("Continue without KVM, many times slower."))
    return parser


def _host(*, anyway: bool) -> Section:
    host = this_host(get_settings().accelerator)
    fault = f"machines would be {host.speed}" if host.emulated and not anyway else ""
    return Section(name="", facts={**host_facts(), "acceleration": host.acceleration.to_json()}, fault=fault)


def _build(report: AcceptanceReport, args: argparse.Namespace, data: Path, words: list[str]) -> bool:
    folder = data / "images" / args.name

    def section() -> Section:
        if not (folder / "image.json").exists() and build([*words, "--name", args.name, "--data", str(data)]):
            raise Unavailable(
                "the build failed",
                code="windows_build_failed",
                hint=f"Its log: {data / 'builds' / args.name / 'build.log'}",
            )
        return Section(name="", facts={"image": read_image(folder).model_dump(mode="json")})

    return report.section("build", section)


def _run_sections(report: AcceptanceReport, args: argparse.Namespace, data: Path) -> None:
    registry.load()
    from worker.providers.qemu import QemuProvider

    image = read_image(data / "images" / args.name)
    spec = DesktopSpec(screen=image.screens[0], image=image.name)
    provider = QemuProvider(Settings(data_dir=data))
    try:
        if report.section("first start", lambda: first_start(provider, spec)):
            report.section("template", lambda: template_section(provider.template(spec)))
            report.section("guest API", lambda: _routes(provider, spec))
            report.section("resets", lambda: resets(provider, spec, args.resets, tell=_say))
            further = [DesktopSpec(screen=screen, image=image.name) for screen in image.screens[1:]]
            report.section("screens", lambda: screens(provider, further))
    finally:
        report.section("end", lambda: Section(name="", lines=(nothing_left(provider),)))
    if args.waa is not None:
        report.section("tasks", lambda: solve(args.waa, data, image.name))
    else:
        report.section("tasks", lambda: Section(name="", fault="skipped: --waa is missing"))


def template_section(template: Template) -> Section:
    """Duration of creating the template, also if the first start created it."""
    return Section(name="", facts={"seconds": dict(template.seconds), "bytes": dict(template.sizes)})


def _routes(provider: Provider, spec: DesktopSpec) -> Section:
    opened = provider.open(SlotRef(0), spec)
    try:
        lines: tuple[CheckResult, ...] = tuple(ask_all(opened.desktop, WINDOWS))
        return Section(name="", lines=lines)
    finally:
        opened.close()


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)  # noqa: T201 - progress is this program's output.


if __name__ == "__main__":
    with visible_streams():
        sys.exit(main())
