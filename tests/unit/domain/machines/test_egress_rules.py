from typing import Any

import pytest

from backend.domain.machines.egress_rules import EgressRules, mocked_place, way_out_of
from backend.domain.model.task import EvaluatorSpec, MetricCall, SetupStep
from tests.factories.tasks import make_task

GIVEN = "https://files.example/set/begin.xlsx"
GOLD = "https://files.example/set/gold.xlsx"
FILES = {GIVEN: "1" * 64, GOLD: "2" * 64, "page.html": "3" * 64}


def way_out(*steps: tuple[str, dict[str, Any]], egress: str = "none", proxy: str = "", **changes: Any) -> EgressRules:
    call = MetricCall(func="compare_table", result={"type": "vm_file"}, expected={"type": "cloud_file", "path": GOLD})
    setup = (("download", {"files": [{"url": GIVEN, "path": "/a"}]}), *steps)
    task = make_task().model_copy(
        update={
            "setup": tuple(SetupStep(type=kind, parameters=told) for kind, told in setup),
            "evaluator": EvaluatorSpec(calls=(call,)),
            **changes,
        }
    )
    return way_out_of(task, FILES, egress=egress, hosts=("ours.example",), proxy=proxy)


class TestFiles:
    def test_files_of_set_up_are_served_and_the_solution_is_not(self) -> None:
        assert dict(way_out().files) == {GIVEN: "1" * 64}

    def test_mocks_with_a_stored_file_are_served(self) -> None:
        mocks = {"https://bank.example/": "asset:page.html", "https://other.example/": "asset:missing"}
        assert dict(way_out(raw={"mocks": mocks}).files) == {GIVEN: "1" * 64, "https://bank.example/": "3" * 64}


class TestMocked:
    def test_https_addresses_of_mocks_and_no_others(self) -> None:
        urls = (
            "https://bank.example/",
            "http://plain.example/",
            "https://Shop.example.:8443/x",
            "https://bank.example/y",
        )
        result = way_out(raw={"mocks": dict.fromkeys(urls, "asset:page.html")})
        assert result.mocked == ("bank.example:443", "shop.example:8443")
        assert GIVEN in result.files

    def test_a_host_whose_page_is_missing_stays_what_it_is(self) -> None:
        assert way_out(raw={"mocks": {"https://bank.example/": "asset:missing"}}).mocked == ()

    @pytest.mark.parametrize(
        "host",
        ["127.0.0.1", "[::1]", "0x7f", "127.1", "b\u00fccher.example", "a b.example", "*.example", "-a.example", "",
         "a.example:99999", "a" * 64 + ".example", ".".join(["a" * 60] * 5)],
    )  # fmt: skip
    def test_hosts_that_no_certificate_can_name(self, host: str) -> None:
        assert mocked_place(f"https://{host}/") == ""


class TestHosts:
    def test_only_configured_hosts_without_network_access(self) -> None:
        assert way_out(("chrome_open_tabs", {"urls_to_open": ["https://a.example/"]})).hosts == ("ours.example",)

    def test_the_tasks_own(self) -> None:
        result = way_out(
            ("chrome_open_tabs", {"urls_to_open": ["https://www.a.example/x", "http://b.example:8080/"]}),
            ("launch", {"command": "google-chrome 'https://c.example/?q=1'"}),
            instruction="Look at https://d.example/page. Then stop.",
            egress="tasks",
        )
        names = ("a.example", "*.a.example", "www.a.example", "b.example:8080", "c.example", "d.example")
        assert {"ours.example", *names} <= set(result.hosts)

    def test_not_the_server_that_has_the_solutions(self) -> None:
        assert not [host for host in way_out(egress="tasks").hosts if "files" in host]

    def test_policy_any_allows_every_host(self) -> None:
        assert way_out(egress="any").hosts == ("ours.example", "*")


class TestProxy:
    @pytest.mark.parametrize("asks", [{"raw": {"proxy": True}}, {}])
    def test_only_tasks_that_ask_get_it(self, asks: dict[str, Any]) -> None:
        assert bool(way_out(proxy="http://p.example:1", **asks).proxy) is bool(asks)

    def test_a_step_asks_too(self) -> None:
        assert way_out(("proxy", {}), proxy="http://p.example:1").proxy
