"""WindowsAgentArena's checks: what the system's answers mean."""

import base64
import json
from typing import Any

import pytest
from defusedxml.ElementTree import fromstring

from guest_server.protocol.errors import GuestError
from guest_server.windows import clock_app, explorer
from guest_server.windows.libraries import folders_of
from guest_server.windows.system import thumbprint
from guest_server.windows.waa_checks import verdict

CLOCK = """<desktop><applicationframewindow name="Clock">
  <listitem name="Edit timer, Timer 1, Running, 1799 seconds, Remaining Of, 30 minutes 0 seconds"/>
  <listitem name="Edit timer, Timer 2, Not started, 3 hours 0 minutes 0 seconds"/>
  <listitem name="1 hour 0 minutes 0 seconds"><button name="Timer running, Pause"/></listitem>
  <listitem name="Kyoto, Japan, 9:00 PM"/>
  <popup xmlns:id="https://accessibility.windows.example.org/ns/id" id:automation_id="SuggestionsPopup">
    <listitem name="Munich, Germany"/></popup>
</applicationframewindow><notepad name="Rome, Italy - Notepad"/></desktop>"""


class TestClock:
    @pytest.mark.parametrize(("seconds", "runs"), [(1800, True), (3600, True), (10_800, False), (1799, False)])
    def test_a_timer_of_that_length_that_counts_down(self, seconds: int, runs: bool) -> None:  # noqa: FBT001
        assert clock_app.timer_runs(fromstring(CLOCK), seconds) is runs

    @pytest.mark.parametrize(
        ("city", "there"), [(("Kyoto", "Japan"), True), (("Munich", "Germany"), False), (("Rome", "Italy"), False)]
    )
    def test_a_city_that_is_shown_and_not_only_suggested(self, city: tuple[str, str], there: bool) -> None:  # noqa: FBT001
        assert clock_app.shows_city(fromstring(CLOCK), *city) is there

    def test_lengths_in_words(self) -> None:
        assert clock_app.seconds_in("1 hour 1 minute 1 second") == 3661
        assert clock_app.seconds_in("Timer 1") is None


class TestExplorer:
    VIEWS = (
        {"path": r"C:\Users\Docker\Documents", "mode": 4, "sort": "prop:-System.DateModified;+System.ItemNameDisplay;"},
        {"path": r"C:\Users\Docker", "mode": 1, "sort": "prop:System.ItemNameDisplay;"},
    )

    def test_details_of_the_folder_that_is_asked_for(self) -> None:
        assert explorer.shows_details(self.VIEWS, "c:/users/docker/documents/")
        assert not explorer.shows_details(self.VIEWS, "C:/Users/Docker")

    def test_the_first_column_counts(self) -> None:
        assert explorer.sorted_by_time(self.VIEWS, "C:/Users/Docker/Documents")
        assert not explorer.sorted_by_time(self.VIEWS, "C:/Users/Docker")

    def test_every_picture_needs_the_tag(self) -> None:
        files: list[dict[str, Any]] = [
            {"name": "a", "path": "a.JPG", "tags": ["2023Vacation", "x"]},
            {"name": "b", "path": "b.tiff", "tags": [None]},
            {"name": "c", "path": "c.txt", "tags": None},
        ]
        assert explorer.untagged_pictures(files, "2023Vacation", (".jpg", ".tiff")) == ["b"]

    def test_arguments_are_data_and_never_code(self) -> None:
        command = explorer.question("x", {"directory": "'; rm -r 'ü"})
        script = base64.b64decode(command[-1]).decode("utf-16-le")
        given = script.split("FromBase64String('")[1].split("'")[0]
        assert "rm -r" not in script
        assert json.loads(base64.b64decode(given)) == {"directory": "'; rm -r 'ü"}


def rule(sid: str, rights: int, *, allow: bool = True, only_below: bool = False) -> dict[str, Any]:
    return {"sid": sid, "allow": allow, "rights": rights, "only_below": only_below}


class TestIsReadOnly:
    READ, MODIFY, FULL, WRITE = 0x1200A9, 0x1301BF, 0x1F01FF, 0x116

    @pytest.mark.parametrize(
        ("rules", "read_only"),
        [
            ([rule("me", READ)], True),
            ([rule("me", READ), rule("team", MODIFY)], False),
            ([rule("me", WRITE, allow=False), rule("S-1-1-0", FULL)], True),
            ([rule("other", FULL), rule("me", READ)], True),
            ([rule("me", READ), rule("me", FULL, only_below=True)], True),
            ([rule("me", FULL, allow=False), rule("me", READ)], False),
            ([rule("other", READ)], False),
            ([rule("me", -2147483648)], True),
        ],
        ids=["reads", "its team writes", "denied first", "others write", "below only", "denied all", "none", "generic"],
    )
    def test_reads_and_makes_nothing(self, rules: list[dict[str, Any]], read_only: bool) -> None:  # noqa: FBT001
        answer = {"account": "me", "groups": ["team"], "found": rules}
        assert explorer.is_read_only(answer) is read_only


LIBRARY = b"""<?xml version="1.0"?><libraryDescription xmlns="http://schemas.microsoft.com/windows/2009/library">
<searchConnectorDescriptionList><searchConnectorDescription><simpleLocation><url>C:\\Users\\Docker\\Downloads</url>
</simpleLocation></searchConnectorDescription><searchConnectorDescription><simpleLocation>
<url>knownfolder:{FDD39AD0-238F-46AF-ADB4-6C85480369C7}</url></simpleLocation></searchConnectorDescription>
</searchConnectorDescriptionList></libraryDescription>"""


class TestFoldersOf:
    def test_paths_and_known_folders(self) -> None:
        known = {"fdd39ad0-238f-46af-adb4-6c85480369c7": r"D:\Docs"}
        assert folders_of(LIBRARY, known) == [r"C:\Users\Docker\Downloads", r"D:\Docs"]

    @pytest.mark.parametrize("data", [b"<a", b'<!DOCTYPE x [<!ENTITY a "b">]><x/>'])
    def test_a_damaged_file_is_not_an_answer(self, data: bytes) -> None:
        with pytest.raises(GuestError) as refused:
            folders_of(data, {})
        assert refused.value.kind == "failed"


class TestSaid:
    def test_a_no_is_one_that_the_evaluators_know(self) -> None:
        assert verdict(True, "it is so").status == 200
        with pytest.raises(GuestError) as refused:
            verdict(False, "it is so")
        assert (refused.value.kind, refused.value.status) == ("no", 400)


class TestThumbprint:
    def test_the_hash_of_what_the_pem_holds(self) -> None:
        pem = f"-----BEGIN CERTIFICATE-----\n{base64.b64encode(b'x' * 60).decode()}\n-----END CERTIFICATE-----\n"
        assert thumbprint(pem) == "06ced2e070e58c2c4ed9f2b8cb890f0c512ce60d"

    @pytest.mark.parametrize("text", ["", "abc", "-----BEGIN CERTIFICATE-----\n%\n-----END CERTIFICATE-----"])
    def test_anything_else_is_refused(self, text: str) -> None:
        with pytest.raises(GuestError):
            thumbprint(text)
