"""`deskarena image`: machine images in the data folder."""

import json
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from backend.cli import images
from backend.cli.errors import CliError, ExitCode, UsageError
from backend.cli.options import Data, OutputForm, default_data
from backend.cli.output import Columns, Output, Row, print_facts, print_object, print_rows, progress
from backend.domain.model.units import GIB

if TYPE_CHECKING:  # Reading images takes what other commands need not wait for.
    from backend.services.machines.machine_images import FoundImage

app = typer.Typer(help="List, build, prepare and remove machine images.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(metavar="NAME", help="Image name.")]

COLUMNS: Columns = {
    "image": lambda row: f"{row['name']}{' (default)' if row['default'] else ''}",
    "system": lambda row: row["os"],
    "about": lambda row: row["about"],
    "takes": lambda row: f"{row['bytes'] / GIB:.1f} GiB",
    "prepared for": lambda row: ", ".join(row["prepared"]) or "-",
    "state": lambda row: row["problem"] or "ok",
}
BUILDER = {"allow_extra_args": True, "ignore_unknown_options": True, "help_option_names": []}
FIRST_SCREEN = (1920, 1080)


class Accelerator(StrEnum):
    """How virtual machines are executed."""

    AUTO = "auto"
    KVM = "kvm"
    TCG = "tcg"


AcceleratorOption = Annotated[
    Accelerator | None,
    typer.Option(
        "--accelerator",
        help="Run the machine with KVM (kvm), emulated (tcg), or whichever is faster (auto). "
        "Default: DESKARENA_ACCELERATOR.",
    ),
]


@app.callback()
def group() -> None:
    """List, build, prepare and remove machine images."""


@app.command("list")
def list_images(output: OutputForm = Output.TABLE, data: Data = None) -> None:
    """List the images in the data folder."""
    from backend.services.machines.machine_images import all_images

    rows = [row_of(entry) for entry in all_images(folder(data), default_image())]
    print_rows(rows, output, COLUMNS, empty="No images. Build one with `deskarena image build linux`.")


@app.command()
def show(name: Name, output: OutputForm = Output.TABLE, data: Data = None) -> None:
    """Show an image's manifest: machine, screens, files, packages, programs."""
    entry = image_named(folder(data), name)
    facts = entry.image.model_dump(mode="json") if entry.image is not None else {}
    print_object({**row_of(entry), **facts}, output, show_image)


@app.command(context_settings=BUILDER)
def build(
    context: typer.Context,
    system: Annotated[
        str, typer.Argument(metavar="linux|windows", help=("System to build; options of its builder may follow."))
    ],
    data: Data = None,
    accelerator: AcceleratorOption = None,
) -> None:
    """Build an image. `deskarena image build windows --help` lists the builder's options."""
    if system == "--help":
        print(context.get_help())
        return
    if system not in images.BUILDERS:
        raise UsageError(f"Unknown system {system!r}. Known: {', '.join(images.BUILDERS)}.", code="unknown_system")
    data_folder = folder(data)
    end(images.run(images.builder(system, data_folder, context.args), environment(data_folder, accelerator)))


@app.command()
def prepare(
    name: Name,
    screen: Annotated[
        str | None, typer.Option("--screen", metavar="WxH", help="Screen size, such as 1280x800.")
    ] = None,
    output: OutputForm = Output.TABLE,
    data: Data = None,
    accelerator: AcceleratorOption = None,
) -> None:
    """Boot an image once and store the template that its desktops are cloned from, before a run needs it."""
    data_folder = folder(data)
    entry = image_named(data_folder, name)
    if entry.image is None or entry.problem:
        raise CliError(f"Image {name} cannot be used: {entry.problem}", code="image_not_usable")
    sizes = [(screen.width, screen.height) for screen in entry.image.screens]
    resolution = size(screen) if screen else FIRST_SCREEN if FIRST_SCREEN in sizes else sizes[0]
    progress(f"Preparing {name} for {resolution[0]}x{resolution[1]} ...")
    code, reply = images.ask(images.preparer(name, resolution), environment(data_folder, accelerator))
    end(code)
    print_object(json.loads(reply), output, print_facts)


@app.command()
def remove(
    name: Name,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")] = False,
    data: Data = None,
) -> None:
    """Remove an image and its templates. Running machines are not affected."""
    from backend.services.machines.machine_images import remove_image

    data_folder = folder(data)
    entry = image_named(data_folder, name)
    total = entry.size + sum(template.size for template in entry.templates)
    if not yes:
        typer.confirm(f"Remove {name} ({total / GIB:.1f} GiB)? This cannot be undone.", abort=True, err=True)
    try:
        freed = remove_image(data_folder, name)
    except OSError as error:
        raise CliError(f"Image {name} cannot be removed: {error}.", code="image_not_removable") from error
    progress(f"Removed {name}; {freed / GIB:.1f} GiB freed.")


def environment(data: Path, accelerator: Accelerator | None) -> dict[str, str]:
    """Environment of a builder or of the preparer."""
    return images.environment(data, images.own_environment(), accelerator.value if accelerator else None)


def folder(data: Path | None) -> Path:
    """The data folder as an absolute path."""
    return (data or default_data()).expanduser().absolute()


def default_image() -> str:
    """The image in the setting DESKARENA_DEFAULT_IMAGE."""
    from backend.config import get_settings

    return get_settings().default_image


def image_named(data: Path, name: str) -> "FoundImage":
    """The image of that name. Raises CliError if there is none."""
    from backend.domain.errors import NotFound
    from backend.services.machines.machine_images import image_by_name

    try:
        return image_by_name(data, name, default_image())
    except NotFound as error:
        raise CliError(error.text, ExitCode.USAGE, code=error.code) from error


def row_of(entry: "FoundImage") -> dict[str, Any]:
    """An image as a row of the list."""
    from backend.services.machines.machine_images import description

    image = entry.image
    return {
        "name": entry.name,
        "os": image.os if image is not None else None,
        "about": description(image) if image is not None else None,
        "default": entry.default,
        "bytes": entry.size + sum(template.size for template in entry.templates),
        "prepared": ["x".join(map(str, template.screen)) for template in entry.templates],
        "problem": entry.problem,
        "folder": str(entry.folder),
    }


def show_image(value: Row) -> None:
    """Print an image's facts. Packages are only counted: there are hundreds."""
    facts: dict[str, Any] = {name: value[name] for name in ("name", "os", "about", "default", "folder")}
    facts["takes"] = f"{value['bytes'] / GIB:.2f} GiB"
    facts["prepared for"] = ", ".join(value["prepared"]) or "-"
    facts["state"] = value["problem"] or "ok"
    if "screens" in value:
        facts |= {name: value[name] for name in ("variant", "version", "made_at", "guest_api", "firmware")}
        facts["screens"] = ", ".join(f"{screen['width']}x{screen['height']}" for screen in value["screens"])
        facts["packages"] = f"{len(value['packages'])}; -o json lists them"
        facts["programs"] = f"{len(value['programs'])}; -o json lists them"
    print_facts(facts)


def size(text: str) -> tuple[int, int]:
    """Parses `1280x800`. Raises UsageError."""
    from backend.cli.commands.run import screen_size

    screen = screen_size(text)
    return screen["width"], screen["height"]


def end(code: int) -> None:
    """Exits with the exit code of a failed child command, which has printed the reason itself."""
    if code:
        expected_codes = {ExitCode.USAGE, ExitCode.INTERRUPTED}
        raise typer.Exit(code if code in expected_codes else ExitCode.INFRASTRUCTURE)
