"""`python -m worker.commands.generate_files FOLDER --endpoint NAME --model MODEL`: writes a benchmark's files.

FOLDER has a `benchmark.json` in WindowsWorld's form. Files are written to `assets/generated/`, named by the hash of
their description; existing ones are kept. Importing the folder then creates a new version.
"""

import argparse
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from backend.config import get_settings
from backend.domain import registry
from backend.domain.benchmarks.windowsworld import FILE
from backend.domain.errors import DeskarenaError, Invalid
from backend.domain.file_generators import FileRequest, asset_of, writable, write
from backend.domain.formats.foreign_text import visible_streams
from backend.domain.model.task import LoadedBenchmark
from backend.domain.ports.model import ModelClient
from backend.domain.registry import PluginKind
from worker.models.model_pool import ModelPool
from worker.models.retrying_client import Caller
from worker.models.wait_timer import WaitTimer


def orders(loaded: LoadedBenchmark) -> Iterator[tuple[str, FileRequest]]:
    """Every file that a model may write, once, as (type, order)."""
    assets: set[str] = set()
    for task in loaded.tasks:
        for step in task.setup:
            if step.type != "generate_file":
                continue
            order = FileRequest.from_parameters(step.parameters)
            kind = str(step.parameters["file_type"])
            if writable(kind, order) and asset_of(kind, order) not in assets:
                assets.add(asset_of(kind, order))
                yield kind, order


def write_files(loaded: LoadedBenchmark, folder: Path, client: ModelClient, model: str) -> tuple[int, list[str]]:
    """Writes missing files to `folder/assets`.

    Returns:
        Number of files written, and why others failed: rules generate those.
    """
    written, failed = 0, []
    for kind, order in orders(loaded):
        target = folder / "assets" / asset_of(kind, order)
        if target.exists():
            continue
        try:
            data = write(kind, order, client, model)
        except Invalid as error:
            failed.append(f"{order.name}: {error.message}")
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        written += 1
    return written, failed


def main(words: Sequence[str] | None = None) -> int:
    """The command. Returns 1 if some files could not be written, 2 for a wrong folder or endpoint."""
    parser = argparse.ArgumentParser(prog="python -m worker.commands.generate_files", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--endpoint", required=True)
    parser.add_argument("--model", required=True)
    options = parser.parse_args(words)
    registry.load("worker.models")
    try:
        # In a checkout the importer finds the file one folder down, and would ignore assets written here.
        if not (options.folder / FILE).is_file():
            raise Invalid(
                f"there is no {FILE}",
                code="file_not_given",
                path=str(options.folder),
                hint="Name the folder that contains it.",
            )
        loaded = registry.lookup(PluginKind.BENCHMARK, "windowsworld")().load(options.folder)
        room = ModelPool.from_settings(get_settings())
        endpoint = room.find(options.endpoint)
        client = registry.lookup(PluginKind.MODEL, endpoint.api)(
            Caller(endpoint, room.gate(endpoint), WaitTimer(), time.sleep)
        )
        written, failed = write_files(loaded, options.folder, client, options.model)
    except DeskarenaError as error:
        sys.stderr.write(f"{error.text}\n")
        return 2
    for line in failed:
        sys.stderr.write(f"{line}\n")
    sys.stdout.write(f"{written} files written, {len(failed)} left to rules\n")
    return 1 if failed else 0


if __name__ == "__main__":
    with visible_streams():
        sys.exit(main())
