"""`deskarena run`: submit, list, show, watch, pause, resume, update, cancel, retry, rescore, failures, export."""

import json
from typing import Annotated, Any
from uuid import uuid4

import typer

from backend.cli.client import IDEMPOTENCY_KEY, Api
from backend.cli.errors import UsageError
from backend.cli.options import (
    DEFAULT_LIMIT,
    Alpha,
    Baseline,
    CancelOnInterrupt,
    Concurrency,
    FailUnder,
    Junit,
    Limit,
    MakeCurrent,
    OutputForm,
    Patience,
    Priority,
    Rejudge,
    RescoreTimeout,
    RunDesktopHours,
    RunId,
    RunTokens,
    RunUsd,
    Server,
    SummaryFile,
    Tasks,
    TaskSet,
    Timeout,
    Wait,
    an_id,
)
from backend.cli.output import Output, print_notice, print_object, print_rows, progress
from backend.cli.reevaluation import show_rescores, wait_for_rescores
from backend.cli.run_options import (
    ActionParam,
    ActionSpace,
    AgentName,
    BenchmarkName,
    DesktopImage,
    IdempotencyKey,
    ImageOption,
    Judge,
    MaxSeconds,
    MaxSteps,
    MaxTokens,
    MaxUsd,
    Observation,
    ObservationParam,
    Params,
    Preset,
    ProviderName,
    Repeats,
    RunName,
    ScreenOption,
    Seed,
    Selection,
    Variant,
    WhereOption,
)
from backend.cli.tables.comparison import show_comparison
from backend.cli.tables.failures import show_failures
from backend.cli.tables.runs import RUNS, show_run
from backend.cli.wait_and_report import ALPHA, RunChecks, finish
from backend.cli.waiting import PATIENCE_SECONDS, WaitLimits, resumable

app = typer.Typer(help="Submit and inspect runs.", no_args_is_help=True)
RESCORE_SECONDS = 600.0


@app.command()
def submit(  # noqa: PLR0913, PLR0917  a command has as many options as it has
    benchmark: BenchmarkName,
    agent: AgentName,
    param: Params = None,
    provider: ProviderName = "local",
    desktop_image: DesktopImage = None,
    screen: ScreenOption = None,
    tasks: Tasks = None,
    selection: Selection = None,
    where: WhereOption = None,
    variant: Variant = None,
    repeats: Repeats = 1,
    preset: Preset = None,
    observation: Observation = None,
    observation_param: ObservationParam = None,
    action_space: ActionSpace = None,
    action_param: ActionParam = None,
    image: ImageOption = None,
    judge: Judge = None,
    max_steps: MaxSteps = None,
    max_seconds: MaxSeconds = None,
    max_tokens: MaxTokens = None,
    max_usd: MaxUsd = None,
    seed: Seed = 0,
    priority: Priority = None,
    concurrency: Concurrency = None,
    run_usd: RunUsd = None,
    run_tokens: RunTokens = None,
    run_desktop_hours: RunDesktopHours = None,
    name: RunName = "",
    idempotency_key: IdempotencyKey = None,
    wait: Wait = False,
    timeout: Timeout = None,
    patience: Patience = None,
    cancel_on_interrupt: CancelOnInterrupt = False,
    junit: Junit = None,
    summary: SummaryFile = None,
    fail_under: FailUnder = None,
    baseline: Baseline = None,
    alpha: Alpha = ALPHA,
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Submit a run and print its id. With --wait, wait for its end and exit by its result."""
    body: dict[str, Any] = {"benchmark": benchmark, "agent": agent, "provider": provider, "name": name, "seed": seed}
    body |= {"tasks": [*(tasks or []), *(f"@{name}" for name in selection or [])]}
    body |= {"repeats": repeats, "params": parameters(param or []), **set_options(preset=preset)}
    body |= set_options(desktop_image=desktop_image, variant=variant, where=where, concurrency=concurrency)
    body |= set_options(priority=priority, run_usd=run_usd, run_tokens=run_tokens, run_desktop_hours=run_desktop_hours)
    body |= set_options(
        screen=screen_size(screen) if screen else None,
        **spaces(observation, observation_param, action_space, action_param, image),
        judge=parameters(judge or [], "--judge"),
        budget=set_options(max_steps=max_steps, max_seconds=max_seconds, max_tokens=max_tokens, max_usd=max_usd),
    )
    checks = RunChecks(junit=junit, summary=summary, fail_under=fail_under, baseline=baseline, alpha=alpha,
                       cancel_on_interrupt=cancel_on_interrupt)  # fmt: skip
    with Api(server) as api:
        run = send_once(api, "/runs", body, idempotency_key, patience or 0.0)
        report(api, run, output, checks, limits_of(timeout, patience), wait=wait)


def send_once(api: Api, path: str, body: dict[str, Any], key: str | None, patience: float) -> dict[str, Any]:
    """Submit with an idempotency key, so that a request whose answer is lost can be repeated."""
    key = key or uuid4().hex
    api.patience = patience
    with resumable(f"`--idempotency-key {key}` submits it only if that has not happened yet."):
        reply: dict[str, Any] = api.post(path, body, {IDEMPOTENCY_KEY: key})
    print_notice(reply)
    return reply


def limits_of(timeout: float | None, patience: float | None) -> WaitLimits:
    """The options as limits."""
    return WaitLimits(timeout=timeout, patience=PATIENCE_SECONDS if patience is None else patience)


def report(  # noqa: PLR0913 - the options
    api: Api, run: dict[str, Any], output: Output, checks: RunChecks, limits: WaitLimits, *, wait: bool
) -> None:
    """Print the run's id, or wait for its end if an option asks for that, and exit by its result."""
    if wait or checks.need_end:
        progress(f"run {run['id']}: {api.server}/runs/{run['id']}")
        finish(api, run["id"], limits, checks, output)
    else:
        print_object(run, output, lambda run: print(run["id"]))


def spaces(
    observation: str | None,
    observation_words: list[str] | None,
    actions: str | None,
    action_words: list[str] | None,
    image_words: list[str] | None,
) -> dict[str, Any]:
    """Observation, action space and picture with their options, for the API."""
    return {
        "observation": observation,
        "observation_params": parameters(observation_words or [], "--observation-param"),
        "action_space": actions,
        "action_params": parameters(action_words or [], "--action-param"),
        "image": parameters(image_words or [], "--image"),
    }


def screen_size(text: str) -> dict[str, int]:
    """Parses `1280x800` to the API's form. Raises UsageError."""
    width, _, height = text.partition("x")
    if not (width.isdecimal() and height.isdecimal()):
        raise UsageError(f"--screen must be like 1280x800, got {text!r}.", code="invalid_option")
    return {"width": int(width), "height": int(height)}


@app.command("list")
def list_runs(  # noqa: PLR0913, PLR0917  same
    status: Annotated[str | None, typer.Option("--status", help="Only runs in this state.")] = None,
    benchmark: Annotated[str | None, typer.Option("--benchmark", help="Only runs of this benchmark.")] = None,
    agent: Annotated[str | None, typer.Option("--agent", help="Only runs of this agent.")] = None,
    limit: Limit = DEFAULT_LIMIT,
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """List runs, newest first."""
    with Api(server) as api:
        rows = api.items("/runs", limit, status=status, benchmark=benchmark, agent=agent)
        print_rows(
            rows,
            output,
            RUNS,
            empty=("No runs. Submit one with `deskarena run submit --benchmark starter --agent oracle`."),
        )


@app.command()
def show(run: RunId, output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """Show a run with its episodes and summary."""
    with Api(server) as api:
        print_object(api.get(f"/runs/{run}", include="episodes"), output, show_run)


@app.command()
def watch(  # noqa: PLR0913, PLR0917  same
    run: RunId,
    timeout: Timeout = None,
    patience: Patience = None,
    cancel_on_interrupt: CancelOnInterrupt = False,
    junit: Junit = None,
    summary: SummaryFile = None,
    fail_under: FailUnder = None,
    baseline: Baseline = None,
    alpha: Alpha = ALPHA,
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Wait until a run has ended, show it and exit by its result."""
    checks = RunChecks(
        junit=junit,
        summary=summary,
        fail_under=fail_under,
        baseline=baseline,
        alpha=alpha,
        cancel_on_interrupt=cancel_on_interrupt,
    )
    with Api(server) as api:
        finish(api, run, limits_of(timeout, patience), checks, output)


@app.command()
def pause(run: RunId, output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """Pause a run: running episodes continue, no further ones start."""
    command(run, "pause", output, server)


@app.command()
def resume(run: RunId, output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """Resume a paused run."""
    command(run, "resume", output, server)


@app.command()
def update(  # noqa: PLR0913, PLR0917 - its options
    run: RunId,
    priority: Priority = None,
    concurrency: Annotated[
        int | None, typer.Option("--concurrency", min=0, help="Maximum concurrent episodes; 0 removes the limit.")
    ] = None,
    run_usd: RunUsd = None,
    run_tokens: RunTokens = None,
    run_desktop_hours: RunDesktopHours = None,
    no_budget: Annotated[bool, typer.Option("--no-budget", help="Remove its budget.")] = False,
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Change priority, concurrency or budget of a running run. Results are unaffected."""
    changes: dict[str, Any] = dict.fromkeys(("run_usd", "run_tokens", "run_desktop_hours")) if no_budget else {}
    changes |= set_options(
        priority=priority, run_usd=run_usd, run_tokens=run_tokens, run_desktop_hours=run_desktop_hours
    )
    if concurrency is not None:
        changes["concurrency"] = concurrency or None
    if not changes:
        raise UsageError("Nothing to change. Give --priority, --concurrency or a budget.", code="option_missing")
    with Api(server) as api:
        print_object(api.patch(f"/runs/{run}", changes), output, show_run)


@app.command()
def cancel(run: RunId, output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """Cancel a run: waiting episodes never start, running ones stop."""
    command(run, "cancel", output, server)


@app.command()
def retry(
    run: RunId,
    failure_class: Annotated[
        list[str] | None,
        typer.Option("--failure-class", help=("Only episodes lost with this failure class (repeatable).")),
    ] = None,
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Retry lost episodes, and those that could not run when the run was submitted."""
    command(run, "retry", output, server, {"failure_classes": failure_class or []})


@app.command()
def rescore(  # noqa: PLR0913, PLR0917  same
    run: RunId,
    task_set: TaskSet = "own",
    make_current: MakeCurrent = None,
    judge: Rejudge = None,
    timeout: RescoreTimeout = None,
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Evaluate the stored evidence of a run's episodes again, without desktops, and show old and new scores."""
    with Api(server) as api:
        judge_parameters = parameters(judge, "--judge") if judge else None
        body = {"task_set": task_set, "make_current": make_current, "judge": judge_parameters}
        reply = api.post(f"/runs/{run}/rescore", body, seconds=RESCORE_SECONDS)
        rows = wait_for_rescores(api, f"/runs/{run}/rescores", reply["rescores"], timeout)
        show_rescores({**reply, "rescores": rows}, output)


@app.command()
def compare(
    runs: Annotated[list[str], typer.Argument(metavar="RUN...", help="Ids of 2 to 8 runs; the first is the base.")],
    label: Annotated[str | None, typer.Option("--label", help="Label of the tasks to cut by (in -o json).")] = None,
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Compare runs on their common tasks: differences with intervals and tests, and what else differs."""
    with Api(server) as api:
        print_object(
            api.get("/compare", run=[an_id(run, "deskarena run list") for run in runs], label=label),
            output,
            show_comparison,
        )


@app.command()
def failures(
    run: RunId,
    sample: Annotated[int, typer.Option("--sample", min=1, max=1000, help="Number of failures to draw.")] = 100,
    seed: Annotated[
        int, typer.Option("--seed", min=0, help=("Random seed; the same seed draws the same failures."))
    ] = 0,
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Draw a sample of failed episodes; shows labels by people, labels suggested by rules, and their shares."""
    with Api(server) as api:
        print_object(api.get(f"/runs/{run}/failure-sample", sample=sample, seed=seed), output, show_failures)


def command(run: str, word: str, output: Output, server: str | None, body: dict[str, Any] | None = None) -> None:
    """Send a command that changes a run, and print the result."""
    with Api(server) as api:
        changed = api.post(f"/runs/{run}/{word}", body)
        print_object(
            changed, output, lambda result: print(f"{result['status']}: {result['episodes']} episodes changed")
        )


def set_options(**options: Any) -> dict[str, Any]:
    """The options that have a value; a preset may set the others."""
    return {name: value for name, value in options.items() if value not in (None, "", {})}  # noqa: PLR6201 - {} has no hash.


def parameters(words: list[str], option: str = "--param") -> dict[str, Any]:
    """Parses `k=v` arguments; values are JSON where possible, else text."""
    values: dict[str, Any] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise UsageError(f"{option} must be K=V, got {word!r}.", code="invalid_option")
        try:
            values[name] = json.loads(value)
        except ValueError:
            values[name] = value
    return values
