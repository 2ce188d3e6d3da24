"""`deskarena judge`: list, show, review."""

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from backend.cli.client import DEFAULT_SERVER, Api
from backend.cli.options import DEFAULT_LIMIT, Limit, OutputForm, Server
from backend.cli.output import Columns, Output, print_facts, print_object, print_rows, print_table, progress

app = typer.Typer(help="Inspect judges and their agreement with people.", no_args_is_help=True)
JudgeId = Annotated[str, typer.Argument(metavar="JUDGE", help="Judge id.")]


def words(coefficient: Mapping[str, Any]) -> str:
    """A coefficient as text: `0.61 (0.48 to 0.72), n = 120`."""
    if coefficient["value"] is None:
        return f"-, n = {coefficient['n']}"
    interval = coefficient["interval"]
    ends = f" ({interval[0]:.2f} to {interval[1]:.2f})" if interval else ""
    return f"{coefficient['value']:.2f}{ends}, n = {coefficient['n']}"


def agreement(judge: Mapping[str, Any]) -> str:
    """Agreement as text: kappa for a model, r for each measure."""
    if judge["kind"] == "graph":
        return (
            "; ".join(
                f"r of {correlation['measure']} {words(correlation['r'])}" for correlation in judge["correlations"]
            )
            or "-"
        )
    return f"kappa {words(judge['agreement'][0]['kappa'])}"


JUDGES: Columns = {
    "judge": lambda judge: judge["id"],
    "model": lambda judge: judge["model"],
    "endpoint": lambda judge: judge["endpoint"],
    "temperature": lambda judge: judge["config"].get("temperature", ""),
    "votes": lambda judge: judge["config"].get("votes", ""),
    "prompt": lambda judge: judge["prompt_sha256"][:12],
    "attempts": lambda judge: judge["attempts_judged"],
    "checked": lambda judge: judge["attempts_checked"],
    "agreement": agreement,
}
LEVELS: Columns = {
    "level": lambda row: row["level"],
    "both yes": lambda row: row["both_yes"],
    "judge only": lambda row: row["only_judge_yes"],
    "person only": lambda row: row["only_person_yes"],
    "both no": lambda row: row["both_no"],
    "kappa": lambda row: words(row["kappa"]),
}


@app.command("list")
def list_judges(limit: Limit = DEFAULT_LIMIT, output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """List judges and their agreement with people, newest first."""
    with Api(server) as api:
        empty = "No judges yet. Use one with `deskarena run submit ... --judge endpoint=openai --judge model=NAME`."
        print_rows(api.items("/judges", limit), output, JUDGES, empty=empty)


@app.command()
def show(judge: JudgeId, output: OutputForm = Output.TABLE, server: Server = None) -> None:
    """Show a judge's agreement with people by level, and the agreement among people."""
    with Api(server) as api:
        print_object(api.get(f"/judges/{judge}"), output, show_judge)


def show_judge(judge: Mapping[str, Any]) -> None:
    """Print a judge's facts."""
    facts = {name: str(value(judge)) for name, value in JUDGES.items()}
    facts["people"] = f"{judge['attempts_reviewed']} of {judge['attempts_sampled']} drawn attempts judged by two people"
    if judge["kind"] == "vlm":
        facts["alpha, people"] = words(judge["alpha_people"])
        facts["alpha, everybody"] = words(judge["alpha_with_judge"])
    print_facts(facts)
    if judge["kind"] == "vlm":
        print()
        print_table(judge["agreement"], LEVELS)


@app.command()
def review(
    judge: JudgeId,
    draw: Annotated[
        int | None, typer.Option("--draw", min=1, help=("Number of further attempts to draw for people."))
    ] = None,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the draw.")] = 0,
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Draw attempts for people to judge, and print the page on which they do so."""
    with Api(server) as api:
        drawn = api.post(f"/judges/{judge}/sample", {"size": draw, "seed": seed})["attempts_sampled"] if draw else 0
        row = api.get(f"/judges/{judge}")
        progress(f"{drawn} drawn now; {row['attempts_reviewed']} of {row['attempts_sampled']} judged by two people")
        page = f"{(server or DEFAULT_SERVER).rstrip('/')}/judges/{judge}/review"
        where = {
            "newly_sampled": drawn,
            "attempts_sampled": row["attempts_sampled"],
            "attempts_reviewed": row["attempts_reviewed"],
            "page": page,
        }
        print_object(where, output, lambda where: print(where["page"]))
