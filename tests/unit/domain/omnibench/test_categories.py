import pytest

from backend.domain.omnibench.categories import CATEGORIES, categories_of, category_of, scenario_of


class TestCategoryOf:
    @pytest.mark.parametrize(
        ("application", "category"),
        [
            ("Excel", "Office"),
            ("libreoffice_calc", "Office"),
            ("Visual Studio Code", "Programming"),
            ("xfce4-terminal", "Programming"),
            ("7-Zip", "Utility Tools"),
            ("Thunar", "System Management"),
            ("an invention", None),
        ],
    )
    def test_of_any_spelling(self, application: str, category: str | None) -> None:
        assert category_of(application) == category

    def test_there_are_twelve(self) -> None:
        assert len(CATEGORIES) == 12


class TestCategoriesOf:
    def test_each_once_and_an_unknown_one_by_itself(self) -> None:
        assert categories_of(["Excel", "Word", "an invention"]) == ("Office", "an invention")


class TestScenarioOf:
    @pytest.mark.parametrize(
        ("categories", "scenario"),
        [
            (["Office"], "Office"),
            (["Web Browsing", "Office"], "Research and Writing"),
            (["Office", "Lifestyle"], "Mixed"),
            (["Office", "Web Browsing", "Lifestyle"], "Mixed"),
        ],
    )
    def test_one_a_combination_or_the_rest(self, categories: list[str], scenario: str) -> None:
        assert scenario_of(categories) == scenario
