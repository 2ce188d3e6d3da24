import pytest
from defusedxml.ElementTree import fromstring

from backend.cli.junit import junit_xml
from backend.domain.formats.foreign_text import visible
from tests.factories.junit import faults
from tests.unit.cli.samples import episode, regression, run

SERVER = "https://desk.example.org"


class TestJunitXml:
    EPISODES = (
        episode("files/rename"),
        episode("files/move", solved=False, score=0.25, ended_by="steps"),
        episode("files/move", repeat=2, outcome="lost"),
        episode("calc/sum", outcome=None, reason="localc is not installed"),
        episode('calc/<odd> & "name"', outcome="cancelled"),
    )

    def test_counts_by_kind(self) -> None:
        root = fromstring(junit_xml(run(), self.EPISODES, SERVER))
        counts = {name: root.get(name) for name in ("tests", "failures", "errors", "time")}
        assert counts == {"tests": "5", "failures": "1", "errors": "1", "time": "8.750"}
        assert [suite.get("skipped") for suite in root] == ["2", "0"]

    def test_is_of_the_form_that_jenkins_and_pytest_check(self) -> None:
        document = junit_xml(run(), [*self.EPISODES, episode("files/x", human_assisted=True)], SERVER, regression())
        assert faults(document) == []

    def test_leads_to_the_run_and_its_episodes(self) -> None:
        root = fromstring(junit_xml(run(), self.EPISODES, SERVER))
        suite = root[1]
        page = f"{SERVER}/runs/{run()['id']}"
        assert (suite.get("timestamp"), suite.get("url")) == ("2026-03-01T12:30:05.123456Z", page)
        properties = {each.get("name"): each.get("value") for each in suite.findall("properties/property")}
        assert (properties["run.id"], properties["run.url"]) == (run()["id"], page)
        link = f"{SERVER}/episodes/{episode()['id']}"
        assert {case.findtext("system-out", "").splitlines()[-1] for case in root.iter("testcase")} == {link}
        assert [failure.text for failure in root.iter("failure")] == [f"score 0.25, ended by steps\n{link}"]

    def test_is_named_after_the_configuration(self) -> None:
        named = {**run(), "configuration": {"id": "c", "name": "nightly, small model"}}
        assert fromstring(junit_xml(named, self.EPISODES, SERVER)).get("name") == "starter nightly, small model"

    def test_one_suite_per_domain(self) -> None:
        root = fromstring(junit_xml(run(), self.EPISODES, SERVER))
        suites = [(suite.get("name"), len(suite.findall("testcase"))) for suite in root]
        assert suites == [("calc", 2), ("files", 3)]

    @pytest.mark.parametrize("character", ["\x00", "\x1b", "\x9b", "\ufffe", "\ud800", "\r"])
    def test_is_xml_whatever_a_guest_wrote(self, character: str) -> None:
        lost = {**episode(f"files/{character}", outcome="lost"), "failure_message": f"it said {character}[31m"}
        named = {**run(), "configuration": {"id": "c", "name": character}}
        (error,) = fromstring(junit_xml(named, [lost], SERVER, regression(sentence=character))).iter("error")
        assert error.get("message") == f"guest: it said {visible(character)}[31m"

    def test_messages_name_the_cause_of_each_failure(self) -> None:
        root = fromstring(junit_xml(run(), self.EPISODES, SERVER))
        said = {
            (case.get("name"), child.tag): child.get("message")
            for case in root.iter("testcase")
            for child in case
            if child.tag != "system-out"
        }
        assert said == {
            ('<odd> & "name"', "skipped"): "cancelled",
            ("sum", "skipped"): "localc is not installed",
            ("move", "failure"): "score 0.25, ended by steps",
            ("move #2", "error"): "guest: the desktop froze",
        }

    def test_a_baseline_is_in_the_properties_of_every_suite(self) -> None:
        root = fromstring(junit_xml(run(), self.EPISODES, SERVER, regression()))
        for suite in root:
            properties = {each.get("name"): each.get("value") for each in suite.findall("properties/property")}
            assert properties["regression.passed"] == "false"
            assert properties["regression.p_value"] == "0.004"
            assert properties["regression.difference"] == "-0.062"
            assert properties["regression.difference_high"] == "-0.021"
            assert properties["regression.sentence"] == "Regression."
            assert properties["regression.baseline_status"] == "completed"
            assert suite[0].tag == "properties"

    def test_no_common_task_gives_null_values(self) -> None:
        report = regression(passed=None, p_value=None, difference=None)
        root = fromstring(junit_xml(run(), self.EPISODES, SERVER, report))
        values = {each.get("name"): each.get("value") for each in root[0].findall("properties/property")}
        assert (values["regression.passed"], values["regression.difference"]) == ("null", "null")
