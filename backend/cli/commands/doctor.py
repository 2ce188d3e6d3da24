"""`deskarena doctor`: test what this machine can run."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from operator import itemgetter
from pathlib import Path
from typing import Any

import typer

from backend.cli.doctor import machine
from backend.cli.doctor.check import CheckState, DoctorCheck
from backend.cli.doctor.report import all_checks
from backend.cli.doctor.verdicts import DESKTOPS, DoctorVerdict, verdicts
from backend.cli.errors import ExitCode
from backend.cli.options import Data, OutputForm, default_data
from backend.cli.output import Columns, Output, print_table
from backend.domain.machines.slots import DesktopNeeds, largest, need_of

SUMMARY: Columns = {
    "what": itemgetter("name"),
    "here": lambda row: "works" if row["works"] else "does not work",
    "slots": lambda row: row["slots"]["number"] if row["slots"] else None,
    "why": lambda row: "; ".join(filter(None, (row["reason"], (row["slots"] or {}).get("reason", "")))),
}


def doctor(data: Data = None, output: OutputForm = Output.TABLE) -> None:
    """Test what this machine can run: desktops, virtual machines, applications, database, broker.

    Exits with 0 if the service and at least one kind of desktop work, else with 3.
    """
    from backend.config import get_settings

    data_folder = (data or default_data()).expanduser().absolute()
    settings = get_settings()
    checks = all_checks(data_folder, settings.accelerator)
    results = verdicts(checks, machine.room(data_folder), {"qemu": image_need(data_folder)}, settings.slots)
    show(checks, results, output)
    works = {result.name for result in results if result.works}
    if "stack" not in works or works.isdisjoint(DESKTOPS):
        raise typer.Exit(ExitCode.INFRASTRUCTURE)


def image_need(data: Path) -> DesktopNeeds:
    """Requirements of one virtual machine, taken from the largest image."""
    from backend.services.machines.machine_images import all_images

    return largest(need_of(image.image) for image in all_images(data) if image.image is not None)


def show(checks: Sequence[DoctorCheck], results: Sequence[DoctorVerdict], output: Output) -> None:
    """Print the report."""
    rows: list[dict[str, Any]] = [asdict(check) for check in checks]
    summary: list[Mapping[str, Any]] = [asdict(result) for result in results]
    if output is Output.JSON:
        can = {result.name: result.works for result in results}
        print(json.dumps({"can": can, "summary": summary, "checks": rows}, indent=2))
    elif output is Output.JSONL:
        for row in rows:
            print(json.dumps(row))
    else:
        columns = {"": "state", "what": "name", "found": "detail", "means": "means"}
        print_table(rows, {heading: itemgetter(key) for heading, key in columns.items()})
        for check in checks:
            if check.state is not CheckState.OK:
                print(f"\n{check.name}: {check.install}")
        print()
        print_table(summary, SUMMARY)
