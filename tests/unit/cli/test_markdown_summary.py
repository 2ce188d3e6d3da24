from typing import Any

from backend.cli.markdown_summary import MOST_ROWS, markdown_summary
from tests.unit.cli.samples import episode, regression, run

SERVER = "https://desk.example.org"
ID, BASE = run()["id"], regression()["baseline"]
EPISODE = episode()["id"]


def ended(*episodes: dict[str, Any], solved: int = 0, **counts: int) -> dict[str, Any]:
    return {**run(solved=solved, status="completed", **counts), "episodes": list(episodes)}


def comparison(*tasks: tuple[str, float, float]) -> dict[str, Any]:
    rows = [
        {"task": name, "results": [{"solve_rate": rate, "episodes": [EPISODE]} for rate in rates]}
        for name, *rates in tasks
    ]
    return {"runs": [{"id": BASE}, {"id": ID}], "common_tasks": len(rows), "tasks": rows}


class TestMarkdownSummary:
    def test_summary_has_verdict_rates_and_regressions(self) -> None:
        report = regression(conditions=[{"name": "budget.max_steps", "values": [15, 50]}])
        compared = comparison(("files/move", 1.0, 0.0), ("files/rename", 0.0, 1.0), ("calc/sum", 1.0, 1.0))
        lost = ended(episode("files/x", outcome="lost"), episode(), scored=4, solved=2)
        assert markdown_summary(lost, "Missed.", SERVER, report, compared).splitlines() == [
            "## oracle on starter",
            "",
            "Missed.",
            "",
            "|  |  |",
            "|---|---|",
            f"| run | [{ID}](<{SERVER}/runs/{ID}>) |",
            "| benchmark | starter, version 1 |",
            "| configuration | oracle |",
            "| success rate | 50.0 % (20.0-90.0) |",
            "| mean score | 50.0 % (20.0-90.0) |",
            "| episodes | 4 scored |",
            f"| baseline | [{BASE}](<{SERVER}/runs/{BASE}>) (completed) |",
            "| comparison | Regression. |",
            "| differing conditions | budget.max\\_steps |",
            "",
            "### Worse than the baseline: 1 of 3 tasks (1 better)",
            "",
            "| task | baseline | this run |",
            "|---|---|---|",
            f"| [files/move](<{SERVER}/episodes/{EPISODE}>) | 100.0 % | 0.0 % |",
            "",
            "### Lost to the infrastructure: 1 episodes",
            "",
            "| task | class | message |",
            "|---|---|---|",
            f"| [files/x](<{SERVER}/episodes/{EPISODE}>) | guest | the desktop froze |",
            "",
        ]

    def test_without_a_baseline_it_has_no_comparison(self) -> None:
        assert "baseline" not in markdown_summary(ended(episode(), scored=1), "Passed.", SERVER)

    def test_names_cannot_break_it(self) -> None:
        named = {**ended(scored=1), "name": "a | b\n<script>"}
        assert markdown_summary(named, "Passed.", SERVER).startswith("## a \\| b \\<script\\>\n")

    def test_a_long_list_is_cut_and_leads_to_the_rest(self) -> None:
        lost = ended(*(episode(f"files/{n}", outcome="lost") for n in range(MOST_ROWS + 3)))
        text = markdown_summary(lost, "Lost.", SERVER)
        assert text.count("the desktop froze") == MOST_ROWS
        assert f"[3 more](<{SERVER}/runs/{ID}>)" in text
