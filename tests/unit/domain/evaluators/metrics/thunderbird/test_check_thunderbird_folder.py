from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics.thunderbird.check_thunderbird_folder import check_thunderbird_folder
from tests.factories.mailbox import folder, message


def value(place: Path, mine: list[str], gold: list[str], **options: Any) -> float:
    return check_thunderbird_folder(folder(place / "mine", mine), folder(place / "gold", gold), **options).value


class TestMessages:
    def test_different_messages_score_0(self, tmp_path: Path) -> None:
        """As published nothing is compared: the word that parts messages is one that Thunderbird never writes."""
        assert value(tmp_path, [message("A")], [message("B")]) == 0
        assert value(tmp_path, [message("A")], [message("B")], strict_upstream=True) == 1
        assert value(tmp_path, [], [message("B")]) == 0
        assert value(tmp_path, [], [message("B")], strict_upstream=True) == 0
        assert value(tmp_path, [], [], strict_upstream=True) == 1
        assert value(tmp_path, [], []) == 1

    def test_the_differences_are_named(self, tmp_path: Path) -> None:
        mine, gold = folder(tmp_path / "m", [message("A")]), folder(tmp_path / "g", [message("B")])
        assert check_thunderbird_folder(mine, gold).reasons == (
            "folder 1: 1 messages are missing 'B', 1 are not expected 'A'",
        )

    @given(st.permutations(["A", "B", "C"]))
    @settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
    def test_order_of_messages_does_not_matter(self, tmp_path: Path, order: list[str]) -> None:
        assert value(tmp_path, [message(one) for one in order], [message(one) for one in "ABC"]) == 1

    def test_storage_time_and_flags_are_ignored(self, tmp_path: Path) -> None:
        other = message("A", status="0000").replace("Sat Jan 20 10:00:00 2024", "Sun Jan 21 11:00:00 2024")
        path = tmp_path / "windows"
        path.write_bytes(other.replace("\n", "\r\n").encode())
        gold = folder(tmp_path / "gold", [message("A")])
        assert check_thunderbird_folder(str(path), gold).value == 1

    def test_a_body_that_begins_lines_with_from(self, tmp_path: Path) -> None:
        assert value(tmp_path, [message("A", "x\n>From here\ny")], [message("A", "x\n>From there\ny")]) == 0

    @pytest.mark.parametrize(
        ("mine", "gold", "same"),
        [
            ("x\n>From now on\ny", "x\nFrom now on\ny", 1),
            (">>From a", ">From a", 0),
            (">>From a", "From a", 0),
            ("From Bob:\nyes", "From Bob:\nno", 0),
            ("From: Bob\nyes", "From: Bob\nyes", 1),
            ("From - here on", "From - there on", 0),
            ("From now\nX: y", "X: y\nFrom now", 0),
        ],
    )
    def test_lines_that_begin_with_from(self, mine: str, gold: str, same: int, tmp_path: Path) -> None:
        assert value(tmp_path, [message("A", mine)], [message("A", gold)]) == same

    def test_a_paragraph_in_another_message(self, tmp_path: Path) -> None:
        text = "Hello\n\nFrom Bob:\nyes"
        mine, gold = [message("A"), message("B", text)], [message("A", text), message("B")]
        assert value(tmp_path, mine, gold) == 0

    @pytest.mark.parametrize(
        "start", ["From \n", "From ann@example.org Sat Jan 2 10:00:00 2024\n", "From - Sun Feb  4 01:02:03 2024\n"]
    )
    def test_ways_to_begin_a_message(self, start: str, tmp_path: Path) -> None:
        mine = [message(one).replace("From - Sat Jan 20 10:00:00 2024\n", start) for one in "AB"]
        assert value(tmp_path, mine, [message("A"), message("B")]) == 1
        assert value(tmp_path, mine[:1], [message("A"), message("B")]) == 0

    def test_header_fields_in_other_forms(self, tmp_path: Path) -> None:
        mine = message("A").replace("X-Mozilla-Status: 0001", "x-mozilla-status: 0001\nX-Account-Key: account1\n more")
        mine = mine.replace("Subject: A", "SUBJECT:\n A")
        assert value(tmp_path, [mine], [message("A")]) == 1
        assert value(tmp_path, [mine.replace("status: 0001", "status: 0009")], []) == 1

    @pytest.mark.parametrize(
        ("mine", "gold", "same"),
        [
            ("a long\n\tsubject", "a long subject", 1),
            ("=?UTF-8?Q?Caf=C3=A9?=", "=?utf-8?B?Q2Fmw6k=?=", 1),
            ("=?UTF-8?Q?Caf?=\n =?UTF-8?Q?=C3=A9?=", "=?iso-8859-1?q?Caf=E9?=", 1),
            ("Caf\u00e9", "=?utf-8?B?Q2Fmw6k=?=", 1),
            ("=?UTF-8?Q?Caf=C3=A8?=", "=?utf-8?B?Q2Fmw6k=?=", 0),
            ("=?x-none?Q?a?=", "=?x-none?Q?a?=", 1),
            ("=?utf-8?B?====?=", "=?utf-8?B?Q2Fmw6k=?=", 0),
            ("=?utf-8?Q?=FF?=", "=?utf-8?Q?=FE?=", 0),
        ],
    )
    def test_subjects_are_unfolded_and_decoded(self, mine: str, gold: str, same: int, tmp_path: Path) -> None:
        assert value(tmp_path, [message(mine)], [message(gold)]) == same

    def test_a_file_of_its_own_has_no_separators(self, tmp_path: Path) -> None:
        text = message("A", "x\nFrom - Sat Jan 20 10:00:00 2024\nB: c").partition("\n")[2]
        (tmp_path / "a.eml").write_text(text)
        (tmp_path / "b.eml").write_text(text.replace("From -", ">From -"))
        assert check_thunderbird_folder(str(tmp_path / "a.eml"), str(tmp_path / "a.eml")).value == 1
        assert check_thunderbird_folder(str(tmp_path / "a.eml"), str(tmp_path / "b.eml")).value == 0

    def test_a_single_message_in_a_file_of_its_own(self, tmp_path: Path) -> None:
        text = message("A").partition("\n")[2]
        (tmp_path / "a.eml").write_text(text)
        (tmp_path / "gold.eml").write_text(text.replace("X-Mozilla-Status: 0001\n", ""))
        assert check_thunderbird_folder(str(tmp_path / "a.eml"), str(tmp_path / "gold.eml")).value == 1
        (tmp_path / "a.eml").write_text(text.replace("Hello", "Hallo"))
        assert check_thunderbird_folder(str(tmp_path / "a.eml"), str(tmp_path / "gold.eml")).value == 0


class TestOptions:
    def test_deleted_messages_are_ignored_unless_disabled(self, tmp_path: Path) -> None:
        mine, gold = [message("A"), message("B", status="0009")], [message("A")]
        assert value(tmp_path, mine, gold) == 1
        assert value(tmp_path, mine, gold, remove_deleted=False) == 0

    def test_duplicate_messages_follow_the_option(self, tmp_path: Path) -> None:
        mine, gold = [message("A"), message("A")], [message("A")]
        assert value(tmp_path, mine, gold, remove_duplicate=True) == 1
        assert value(tmp_path, mine, gold, remove_duplicate=False) == 0

    @pytest.mark.parametrize(
        ("option", "change"), [("ignore_status", {"status": "0005"}), ("ignore_keys", {"keys": "x"})]
    )
    def test_flags_count_only_on_request(self, option: str, change: dict[str, str], tmp_path: Path) -> None:
        mine, gold = [message("A", **change)], [message("A")]
        result = [value(tmp_path, mine, gold, **{option: ignored}) for ignored in (True, None, False)]
        assert result == [1, 1, 0]


class TestSeveralFolders:
    def test_each_folder_is_compared_with_its_own_expectation(self, tmp_path: Path) -> None:
        a, b = (folder(tmp_path / name, [message(name)]) for name in "AB")
        assert check_thunderbird_folder([a, b], [a, b]).value == 1
        assert check_thunderbird_folder([a, b], [b, a]).value == 0
        assert check_thunderbird_folder([a, None], [a, b]).value == 0
        assert check_thunderbird_folder([a, None], [a, b], strict_upstream=True).value == 0
        assert check_thunderbird_folder(None, [a, b]).value == 0

    def test_unequal_folder_counts_are_an_error(self, tmp_path: Path) -> None:
        a = folder(tmp_path / "a", [message("A")])
        with pytest.raises(EvaluatorFailed):
            check_thunderbird_folder([a], [a, a])

    def test_missing_expected_folder_gives_no_verdict(self, tmp_path: Path) -> None:
        a = folder(tmp_path / "a", [message("A")])
        with pytest.raises(EvaluatorFailed):
            check_thunderbird_folder(a, str(tmp_path / "gone"))
