import pytest
from pydantic import ValidationError

from backend.domain.errors import Invalid
from backend.domain.scheduling.projects import ALL, ProjectRules, numbers_text, read


class TestQuotaFull:
    RULES = ProjectRules(quota={"k8s": 4, ALL: 6})

    def test_quota_with_free_slots_is_not_full(self) -> None:
        assert self.RULES.quota_full("k8s", {"k8s": 3, "local": 2}) is None

    def test_the_providers_own_comes_first(self) -> None:
        assert self.RULES.quota_full("k8s", {"k8s": 4, "local": 2}) == ("k8s", 4)

    def test_all_providers_count_together(self) -> None:
        assert self.RULES.quota_full("local", {"k8s": 4, "local": 2}) == (ALL, 6)

    def test_project_without_quotas_is_never_full(self) -> None:
        assert ProjectRules().quota_full("local", {"local": 10_000}) is None


class TestProjectRules:
    @pytest.mark.parametrize(
        "wrong", [{"weight": 0}, {"quota": {"k8s": -1}}, {"reserved": {"": 1}}, {"quota": {"A b": 1}}]
    )
    def test_invalid_rules_are_refused(self, wrong: dict[str, object]) -> None:
        with pytest.raises(ValidationError):
            ProjectRules.model_validate(wrong)

    @pytest.mark.parametrize(
        ("field", "last", "beyond"),
        [
            ("weight", 0.01, 0.009),
            ("weight", 1000.0, 1000.1),
            ("quota", {"k8s": 0}, {"k8s": -1}),
            ("quota", {"k8s": 100_000}, {"k8s": 100_001}),
            ("quota", {"p" * 50: 1}, {"p" * 51: 1}),
            ("quota", {f"p{n}": 1 for n in range(50)}, {f"p{n}": 1 for n in range(51)}),
            ("reserved", {f"p{n}": 1 for n in range(50)}, {f"p{n}": 1 for n in range(51)}),
        ],
    )
    def test_the_last_value_is_accepted_and_the_next_is_not(self, field: str, last: object, beyond: object) -> None:
        assert getattr(ProjectRules.model_validate({field: last}), field) == last
        with pytest.raises(ValidationError):
            ProjectRules.model_validate({field: beyond})

    def test_projects_weigh_the_same_unless_configured(self) -> None:
        assert ProjectRules() == ProjectRules(weight=1.0, quota={}, reserved={})


class TestWritten:
    def test_text_is_read_back(self) -> None:
        assert numbers_text({"k8s": 8, "all": 12}) == "all=12 k8s=8"
        assert read("all=12, k8s=8", "quota") == {"all": 12, "k8s": 8}
        assert read(" ", "quota") == {}
        assert read("k8s=000000008", "quota") == {"k8s": 8}

    @pytest.mark.parametrize("wrong", ["k8s", "k8s=-1", "=3", "k8s=x", "k8s=" + "9" * 10, "k8s=1 k8s=1"])
    def test_invalid_text_is_refused_with_its_field(self, wrong: str) -> None:
        with pytest.raises(Invalid) as caught:
            read(wrong, "quota")
        assert caught.value.path == "quota"
