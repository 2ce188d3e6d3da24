"""`python -m worker.images.windows`: builds a Windows image, or prints what it would do."""

import argparse
import signal
import sys
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

from pydantic import ValidationError

from backend.config import get_settings
from backend.domain.errors import DeskarenaError, Invalid, NotFound
from backend.domain.formats.foreign_text import visible_streams
from backend.domain.machines.machine_image import NAME
from backend.domain.model.validation_words import problem_words
from worker.activity import ProgressLines, Tracker
from worker.images.windows.build import Builder
from worker.images.windows.dry_run import dry_run
from worker.images.windows.options import WindowsBuildOptions
from worker.images.windows.plan import BuildPlan, BuildRequest, make_plan

USAGE, INFRASTRUCTURE, INTERRUPTED = 2, 3, 130


def main(arguments: list[str] | None = None) -> int:
    """Returns the exit code: 0 done, 2 invalid arguments, 3 not possible here; calling it again continues."""
    args = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, _stop)
    try:
        request = _request(args)
        plan = make_plan(request)
        if args.dry_run:
            dry_run(request, plan, _say)
        else:
            _say(f"built {_build(request, plan)}")
    except (Invalid, NotFound) as error:
        return _fail(error, USAGE)
    except DeskarenaError as error:
        return _fail(error, INFRASTRUCTURE)
    except KeyboardInterrupt:
        _say("interrupted; the same command continues with the current stage")
        return INTERRUPTED
    return 0


def _build(request: BuildRequest, plan: BuildPlan) -> Path:
    tracker = Tracker()
    lines = ProgressLines(tracker, sys.stderr, picture=request.folder / "screen.png", only_meanwhile=True)
    with lines:
        return Builder(request, plan, lines.say, tracker=tracker).build()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m worker.images.windows", description=__doc__.splitlines()[0] if __doc__ else ""
    )
    add = parser.add_argument
    add(
        "--iso", type=Path, required=True, help=("Installation medium of Windows 11 or Windows Server, from Microsoft.")
    )
    add("--virtio", type=Path, required=True, help="virtio-win.iso, with the drivers.")
    add("--name", default="windows", help="Name of the image (default: windows).")
    add("--data", type=Path, help="Data folder (default: DESKARENA_DATA_DIR).")
    add("--edition", help="Name or id of the edition, if the medium has several.")
    add("--product-key", help="Product key, if the medium needs one; evaluations do not.")
    add("--sets", help="Benchmarks whose programs are installed, separated by commas (default: waa).")
    add("--installers", type=Path, help="Folder of installers that you provide.")
    add("--programs", type=Path, action="append", default=[], help=("List of further programs, or of other versions."))
    add("--without", default="", help="Ids of programs to leave out, separated by commas.")
    add("--guest-python", type=Path, help="The embeddable Python, if it cannot be downloaded.")
    add("--user", help="User of the desktop (default: Docker, as in WAA's tasks).")
    add("--language", help="Language, for example en-US.")
    add("--time-zone", help="Windows' name of the time zone (default: UTC).")
    add("--firmware", choices=("uefi", "bios"), help="Firmware (default: uefi).")
    add("--disk-gib", type=int, help="Disk size in GiB (default: 64).")
    add("--memory-mib", type=int, help="Memory in MiB (default: 8192).")
    add("--cpus", type=int, help="Processors (default: 4).")
    add("--minutes", type=float, default=120.0, help=("Maximum minutes of each start of the machine (default: 120)."))
    add(
        "--dry-run",
        action="store_true",
        help=("Create the medium and print what would happen, without starting anything."),
    )
    return parser


def _request(args: argparse.Namespace) -> BuildRequest:
    """Parses the arguments. Raises Invalid."""
    if not NAME.fullmatch(args.name):
        raise Invalid(
            f"{args.name!r} is not a valid image name",
            code="invalid_name",
            path="name",
            hint="Use a-z, 0-9, . and -.",
        )
    names = ("edition", "user", "language", "time_zone", "firmware", "disk_gib", "memory_mib", "cpus", "product_key")
    fields: dict[str, Any] = {name: getattr(args, name) for name in names if getattr(args, name) is not None}
    if args.sets:
        fields["sets"] = _words(args.sets)
    try:
        options = WindowsBuildOptions.model_validate(fields)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise Invalid(problem_words(first), code="invalid_image_plan", path=".".join(map(str, first["loc"]))) from error
    return BuildRequest(
        name=args.name,
        iso=_file(args.iso, "--iso"),
        virtio=_file(args.virtio, "--virtio"),
        options=options,
        data=(args.data or get_settings().data_dir).expanduser().absolute(),
        brought=args.installers,
        lists=tuple(args.programs),
        without=_words(args.without),
        python=args.guest_python,
        minutes=args.minutes,
        accelerator=get_settings().accelerator,
    )


def _words(text: str) -> tuple[str, ...]:
    return tuple(word for word in (part.strip() for part in text.split(",")) if word)


def _file(path: Path, option: str) -> Path:
    if not path.is_file():
        raise NotFound(
            f"{option}: file {path} does not exist",
            code="file_not_found",
            hint="docs/windows-images.md says where to get it.",
        )
    return path.absolute()


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)  # noqa: T201 - progress is this program's output.


def _fail(error: DeskarenaError, code: int) -> int:
    _say(f"{error.message}\n{error.hint}".strip())
    return code


def _stop(_: int, __: FrameType | None) -> NoReturn:
    """Handles SIGTERM like an interruption: the machine is stopped, and recorded stages stay complete."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    with visible_streams():
        sys.exit(main())
