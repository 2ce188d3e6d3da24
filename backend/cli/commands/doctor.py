"""`deskarena doctor`: what this machine can run."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from operator import itemgetter
from typing import Any

import typer

from backend.cli.doctor.check import Check, State
from backend.cli.doctor.report import all_checks, verdict
from backend.cli.errors import ExitCode
from backend.cli.options import Data, OutputForm, default_data
from backend.cli.output import Output, print_table


def doctor(data: Data = None, output: OutputForm = Output.TABLE) -> None:
    """Try what this machine can run: desktops, virtual machines, applications, database, broker.

    Exits with 0 if the service and at least one kind of desktop can run here, else with 3.
    """
    checks = all_checks((data or default_data()).expanduser().absolute())
    can = verdict(checks)
    show(checks, can, output)
    if not (can["stack"] and (can["local"] or can["qemu"])):
        raise typer.Exit(ExitCode.INFRASTRUCTURE)


def show(checks: Sequence[Check], can: Mapping[str, bool], output: Output) -> None:
    """Print the report."""
    rows: list[dict[str, Any]] = [asdict(check) for check in checks]
    if output is Output.JSON:
        print(json.dumps({"can": can, "checks": rows}, indent=2))
    elif output is Output.JSONL:
        for row in rows:
            print(json.dumps(row))
    else:
        columns = {"": "state", "what": "name", "found": "detail", "means": "means"}
        print_table(rows, {heading: itemgetter(key) for heading, key in columns.items()})
        for check in checks:
            if check.state is not State.OK:
                print(f"\n{check.name}: {check.install}")
        print("\nCan run here: " + (", ".join(name for name, works in can.items() if works) or "nothing"))
