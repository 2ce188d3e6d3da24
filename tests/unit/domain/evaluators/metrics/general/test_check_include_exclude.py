from backend.domain.evaluators.metrics.general.check_include_exclude import check_include_exclude


class TestCheckIncludeExclude:
    def test_all_includes_and_no_exclude(self) -> None:
        assert check_include_exclude("a b", {"include": ["a", "b"], "exclude": ["c"]}).value == 1.0

    def test_a_missing_include_is_named(self) -> None:
        result = check_include_exclude("a", {"include": ["a", "b"]})
        assert result.value == 0.0
        assert result.reasons == ("lacks 'b'",)

    def test_an_exclude_that_is_there_is_named(self) -> None:
        assert check_include_exclude("a c", {"include": ["a"], "exclude": ["c"]}).reasons == ("has 'c'",)

    def test_missing_text_scores_0(self) -> None:
        assert check_include_exclude(None, {"exclude": ["c"]}).value == 0.0

    def test_line_ends_of_windows(self) -> None:
        for text, part in (("a\r\nb\r\n", "a\nb"), ("a\nb\n", "a\r\nb"), ("a\r\nb", "a\r\nb")):
            assert check_include_exclude(text, {"include": [part]}).value == 1.0
            assert check_include_exclude(text, {"exclude": [part]}).value == 0.0
