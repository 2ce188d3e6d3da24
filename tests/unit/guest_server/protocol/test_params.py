from typing import Any

import pytest

from guest_server.protocol.errors import GuestError
from guest_server.protocol.params import RequestParams


def refused(call: Any, *args: Any, **options: Any) -> str:
    with pytest.raises(GuestError) as caught:
        call(*args, **options)
    return f"{caught.value.kind}: {caught.value.message}"


class TestText:
    def test_gives_the_text(self) -> None:
        assert RequestParams({"a": "x"}).text("a") == "x"

    def test_missing_is_named(self) -> None:
        assert refused(RequestParams({}).text, "title") == "bad_request: parameter 'title' is missing"

    def test_null_counts_as_missing(self) -> None:
        assert RequestParams({"a": None}).text("a", "d") == "d"

    def test_another_type_is_refused(self) -> None:
        assert "must be a string" in refused(RequestParams({"a": 5}).text, "a")

    def test_too_long_is_too_large(self) -> None:
        assert refused(RequestParams({"a": "xxx"}).text, "a", longest=2).startswith("too_large")


class TestPath:
    def test_home_and_variables_are_expanded(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("HOME", "/home/user")
        assert RequestParams({"p": "~/a"}).path("p") == "/home/user/a"
        assert RequestParams({"p": "$HOME/b"}).path("p") == "/home/user/b"

    @pytest.mark.parametrize("value", ["", "a\0b"])
    def test_invalid_paths_are_rejected(self, value: str) -> None:
        assert "must be a file path" in refused(RequestParams({"p": value}).path, "p")


class TestNumber:
    @pytest.mark.parametrize(("value", "number"), [(1, 1.0), ("2.5", 2.5), (0.5, 0.5)])
    def test_numbers_and_their_texts(self, value: Any, number: float) -> None:
        assert RequestParams({"n": value}).number("n", low=0, high=10) == number

    @pytest.mark.parametrize("value", [True, "x", [], -1, 11, "nan", "inf", {}])
    def test_everything_else_is_refused(self, value: Any) -> None:
        assert "a number from 0 to 10" in refused(RequestParams({"n": value}).number, "n", low=0, high=10)


class TestInteger:
    def test_a_fraction_is_refused(self) -> None:
        assert "whole number" in refused(RequestParams({"n": 1.5}).integer, "n", low=0, high=10)

    def test_a_whole_float_is_taken(self) -> None:
        assert RequestParams({"n": 3.0}).integer("n", low=0, high=10) == 3


class TestFlag:
    @pytest.mark.parametrize(
        ("value", "flag"), [(True, True), ("true", True), ("1", True), ("False", False), (0, False)]
    )
    def test_flag_accepts_booleans_and_texts(self, value: Any, flag: bool) -> None:  # noqa: FBT001
        assert RequestParams({"f": value}).flag("f") is flag

    @pytest.mark.parametrize("value", ["yes", 2, [], {}])
    def test_others_are_refused(self, value: Any) -> None:
        assert "true or false" in refused(RequestParams({"f": value}).flag, "f")


class TestCommand:
    @pytest.mark.parametrize("value", ["ls -l", ["ls", "-l"]])
    def test_text_or_list(self, value: Any) -> None:
        assert RequestParams({"command": value}).command() == value

    @pytest.mark.parametrize("value", ["", "  ", [], ["a", 5], 7, {"a": "b"}, ["a\0b"], [""]])
    def test_others_are_refused(self, value: Any) -> None:
        assert refused(RequestParams({"command": value}).command).startswith("bad_request")
