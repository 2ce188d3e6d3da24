"""The `deskarena` command; docs/cli.md documents it."""

import os
import sys
from collections.abc import Sequence
from typing import Any

import typer
from typer.core import TyperGroup

from backend.cli.commands import (
    artifacts,
    backup,
    benchmark,
    benchmark_assets,
    budget,
    configuration,
    delete,
    demo,
    demonstrations,
    doctor,
    episode,
    export,
    image,
    judge,
    leaderboard,
    licence,
    maintenance,
    notification,
    offline_study,
    omnibench,
    plugin,
    project,
    project_token,
    quarantine,
    retention,
    run,
    run_files,
    study,
    task,
    up,
    worker,
)
from backend.cli.errors import CliError, ExitCode
from backend.cli.interrupt import StopRequested
from backend.cli.output import ErrorForm, print_error, progress
from backend.domain.formats.foreign_text import make_logs_visible, visible_streams
from backend.domain.model.validation_words import plain_message
from backend.environment import RenamedVariable, check_renamed


class PlainCommandGroup(TyperGroup):
    """All commands, which say in our words what is wrong with an option."""

    def invoke(self, ctx: Any) -> Any:  # noqa: D102 - typer's
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            error.message = plain_message(error.message)
            raise


app = typer.Typer(
    name="deskarena",
    cls=PlainCommandGroup,
    help="Measure computer-use agents on real desktops.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
project.app.command("token")(project_token.token)
app.command("up")(up.up)
app.command("demo")(demo.demo)
app.command("doctor")(doctor.doctor)
app.command("backup")(backup.backup)
app.command("restore")(backup.restore)
app.command("verify")(backup.verify)
benchmark.app.command("fetch")(benchmark_assets.fetch)
run.app.command("export")(run_files.export)
run.app.command("import-results")(run_files.import_results)
benchmark.app.add_typer(benchmark_assets.app, name="asset")
app.add_typer(benchmark.app, name="benchmark")
app.add_typer(run.app, name="run")
app.add_typer(configuration.app, name="configuration")
study.app.add_typer(offline_study.app, name="offline")
app.add_typer(leaderboard.app, name="leaderboard")
app.add_typer(study.app, name="study")
app.add_typer(delete.app, name="delete")
app.add_typer(retention.app, name="retention")
app.add_typer(budget.app, name="budget")
app.add_typer(demonstrations.app, name="demonstrations")
app.add_typer(task.app, name="task")
app.add_typer(plugin.app, name="plugin")
app.add_typer(episode.app, name="episode")
app.add_typer(export.app, name="export")
app.add_typer(worker.app, name="worker")
app.add_typer(image.app, name="image")
app.add_typer(judge.app, name="judge")
app.add_typer(licence.app, name="licence")
app.add_typer(maintenance.app, name="maintenance")
app.add_typer(notification.app, name="notification")
app.add_typer(quarantine.app, name="quarantine")
app.add_typer(project.app, name="project")
app.add_typer(omnibench.app, name="omnibench")
app.add_typer(artifacts.app, name="artifacts")


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs one command and exits with its code.

    Args:
        arguments: Arguments after `deskarena`; None = those of this process.
    """
    form = ErrorForm()
    try:
        check_renamed(os.environ)
        make_logs_visible()
        with visible_streams():
            app(args=list(arguments) if arguments is not None else None, prog_name="deskarena", obj=form)
    except CliError as error:
        print_error(str(error), error.code, form)
        sys.exit(error.exit_code)
    except RenamedVariable as error:
        progress(f"deskarena: {error}")
        sys.exit(ExitCode.USAGE)
    except StopRequested:
        sys.exit(ExitCode.INTERRUPTED)


if __name__ == "__main__":
    main()
