"""`python -m worker.images.linux`: builds a Linux image from Debian packages, or runs an image's check list."""

import argparse
import os
import signal
import sys
import time
from pathlib import Path
from types import FrameType
from typing import NoReturn

from pydantic import ValidationError

import worker
from backend.config import get_settings
from backend.domain.errors import Conflict, DeskarenaError, Invalid, NotFound
from backend.domain.formats.foreign_text import visible_streams
from backend.domain.machines.machine_image import find_image
from backend.domain.model.validation_words import problem_words
from worker.activity import ProgressLines, Tracker
from worker.images.checks import in_words
from worker.images.linux.build import build
from worker.images.linux.check import SLOT, applications, check_list
from worker.images.linux.options import LinuxBuildOptions, sources_of
from worker.providers.qemu import QemuProvider

FAULTY, USAGE, INFRASTRUCTURE, INTERRUPTED = 1, 2, 3, 130
_PREFIX = "image: "
CHECKOUT = Path(worker.__file__).resolve().parent.parent


def main(arguments: list[str] | None = None) -> int:
    """Returns the exit code: 0 done, 1 an application does not start, 2 invalid arguments, 3 not possible here."""
    args = _parser().parse_args(arguments)
    signal.signal(signal.SIGTERM, _stop)
    try:
        return (_check if args.check else _build)(_options(args), args)
    except (Invalid, Conflict, NotFound) as error:
        return _fail(str(error), error.hint, USAGE)
    except DeskarenaError as error:
        return _fail(error.message, error.hint, INFRASTRUCTURE)
    except OSError as error:
        return _fail(str(error), "", INFRASTRUCTURE)
    except KeyboardInterrupt:
        return _fail("interrupted; the unfinished image was removed", "", INTERRUPTED)


def _build(options: LinuxBuildOptions, args: argparse.Namespace) -> int:
    start, images = time.monotonic(), _data(args) / "images"
    tracker = Tracker()
    with ProgressLines(tracker, sys.stderr, prefix=_PREFIX, only_meanwhile=True) as lines:
        image = build(options, sources_of(CHECKOUT), images, lines.say, replace=args.replace, tracker=tracker)
    size = sum(file.size for file in image.files()) / 2**30
    _say(f"built {images / image.name}: {image.version}, {len(image.packages)} packages, {size:.1f} GiB,")
    _say(f"  in {time.monotonic() - start:.0f} s. Create its template with: deskarena image prepare {image.name}")
    return 0


def _check(options: LinuxBuildOptions, args: argparse.Namespace) -> int:
    """Starts every application of an existing image."""
    data = _data(args)
    _, image = find_image(data / "images", options.image_name())
    if image.os != "linux":
        raise Invalid(f"{image.name} is not a Linux image", code="invalid_image_plan", path="name")
    apps = applications(sources_of(CHECKOUT).linux, "full" if image.variant == "full" else "minimal")
    provider, faults = QemuProvider(get_settings().model_copy(update={"data_dir": data})), 0
    try:
        _say(f"starting a machine of {image.name}, {image.version}")
        picture = data / "cache" / f"check-{image.name}.png"
        with ProgressLines(provider.tracker(SLOT), sys.stderr, prefix=_PREFIX, picture=picture) as lines:
            for line in check_list(provider, image, apps):
                lines.say(in_words(line))
                faults += not line.ok
    finally:
        provider.close()
    _say(f"{faults} checks failed" if faults else "all checks passed")
    return FAULTY if faults else 0


def _data(args: argparse.Namespace) -> Path:
    folder: Path = args.data or get_settings().data_dir
    return folder.absolute()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m worker.images.linux", description=__doc__.splitlines()[0] if __doc__ else ""
    )
    add = parser.add_argument
    add("--variant", choices=("minimal", "full"), default="minimal", help="Applications (default: minimal).")
    add("--name", default="", help="Name of the image (default: linux- and the variant).")
    add("--data", type=Path, help="Data folder (default: DESKARENA_DATA_DIR).")
    add("--replace", action="store_true", help="Replace an image of the same name.")
    add("--check", action="store_true", help="Do not build: start every application of the existing image.")
    add("--suite", default="bookworm", help="Debian release (default: bookworm).")
    add(
        "--source",
        action="append",
        default=[],
        help=("Mirror, or line of a sources.list (default: Debian's own mirror)."),
    )
    add("--memory-mib", type=int, default=0, help="Memory of a machine (default: as the variant needs).")
    add("--cpus", type=int, default=2, help="Processors of a machine (default: 2).")
    return parser


def _options(args: argparse.Namespace) -> LinuxBuildOptions:
    """Parses the options. Raises Invalid."""
    try:
        epoch = int(os.environ.get("SOURCE_DATE_EPOCH") or time.time())
        return LinuxBuildOptions(
            variant=args.variant,
            name=args.name,
            suite=args.suite,
            sources=tuple(args.source),
            epoch=epoch,
            memory_mib=args.memory_mib,
            cpus=args.cpus,
        )
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        raise Invalid(
            problem_words(first),
            code="invalid_image_plan",
            path=".".join(map(str, first["loc"])),
        ) from error
    except ValueError as error:
        raise Invalid("must be seconds since 1970", code="invalid_image_plan", path="SOURCE_DATE_EPOCH") from error


def _say(text: str) -> None:
    print(f"{_PREFIX}{text}", file=sys.stderr, flush=True)  # noqa: T201 - what a person at a terminal sees


def _fail(message: str, hint: str, code: int) -> int:
    for line in filter(None, (message, hint)):
        _say(line)
    return code


def _stop(_number: int, _frame: FrameType | None) -> NoReturn:
    """Ends a build on SIGTERM like on Ctrl-C, so that nothing is left behind."""
    raise KeyboardInterrupt


if __name__ == "__main__":
    with visible_streams():
        sys.exit(main())
