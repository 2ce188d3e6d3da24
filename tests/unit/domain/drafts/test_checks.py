from backend.domain import registry
from backend.domain.drafts.checks import ContentCheck, review_checks
from backend.domain.model.task import MetricCall, SetupStep
from tests.factories.drafts import make_content

registry.load()


def checks(
    others: tuple[tuple[str, str], ...] = (), stored: tuple[str, ...] = (), **more: object
) -> dict[str, ContentCheck]:
    return {check.name: check for check in review_checks(make_content(**more), others, stored)}


class TestReviewChecks:
    def test_a_good_draft(self) -> None:
        result = checks()
        assert set(result) == {"duplicates", "names", "files", "preconditions", "criteria"}
        assert {name: check.findings for name, check in result.items() if name != "criteria"} == {
            "duplicates": (), "names": (), "files": (), "preconditions": (),
        }  # fmt: skip
        assert not any(check.stops for check in result.values())

    def test_near_duplicate_instruction_is_found(self) -> None:
        same = make_content().instruction
        assert checks((("starter/add_milk", same),))["duplicates"].findings == ("starter/add_milk: cosine 1.00",)

    def test_unknown_names_stop(self) -> None:
        result = checks(checks=(MetricCall(func="exact_mach", result={"type": "vm_fil"}),))["names"]
        assert result.stops
        assert len(result.findings) == 2

    def test_problems_of_files_are_found(self) -> None:
        url = "https://files.example/list.txt"
        step = SetupStep(type="download", parameters={"files": [{"url": url, "path": "/home/user/list.txt"}]})
        assert "not stored yet" in checks(setup=(step,))["files"].findings[0]
        assert checks(setup=(step,), stored=(url,))["files"].findings == ()
        assert "not a valid URL" in checks(instruction="Open http://nowhere/ in the browser.")["files"].findings[0]
        assert "nothing names it" in checks(assets={"idle.txt": "0" * 64})["files"].findings[0]
