from backend.cli.markdown_summary import markdown
from tests.unit.cli.samples import regression, run


class TestMarkdown:
    def test_the_whole_of_it(self) -> None:
        conditions = [{"name": "budget.max_steps", "values": [15, 50]}]
        lines = markdown(run(scored=4, solved=2), "Missed.", regression(conditions=conditions)).splitlines()
        assert lines == [
            "## oracle on starter",
            "",
            "Missed.",
            "",
            "| | |",
            "|---|---|",
            "| run | `018f0000-0000-7000-8000-000000000000` |",
            "| success rate | 50.0 % (20.0-90.0) |",
            "| mean score | 50.0 % (20.0-90.0) |",
            "| episodes | 4 scored |",
            "| baseline | `018f0000-0000-7000-8000-000000000009` (completed) |",
            "| comparison | Regression. |",
            "| not alike | budget.max_steps |",
            "",
        ]

    def test_without_a_baseline_it_has_no_comparison(self) -> None:
        assert "baseline" not in markdown(run(scored=1), "Passed.")

    def test_names_cannot_break_it(self) -> None:
        text = markdown({**run(scored=1), "name": "a | b\n<script>"}, "Passed.")
        assert text.startswith("## a \\| b &lt;script>\n")
