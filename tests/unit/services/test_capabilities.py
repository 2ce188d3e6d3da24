from typing import Any

import pytest

from backend.db.models import Task
from backend.domain.errors import Invalid, Unavailable, UnknownPlugin
from backend.domain.run import RunConfig
from backend.services.capabilities import Capabilities, _join, checked_config, checked_params
from tests.factories.records import capabilities


def joined(*said: dict[str, Any]) -> Capabilities:
    return _join(said or [capabilities()], 1)


class TestJoin:
    def test_programs_of_two_workers_add_up(self) -> None:
        both = joined(capabilities(("a", "b")), capabilities(("b", "c")))
        assert both.providers["local"]["programs"] == ["a", "b", "c"]

    @pytest.mark.parametrize("order", [1, -1])
    def test_a_provider_works_where_one_worker_can_make_it(self, order: int) -> None:
        broken = capabilities() | {"providers": {"local": {"ok": False, "reason": "no", "programs": ["x"]}}}
        both = joined(*[capabilities(("a",)), broken][::order])
        assert (both.providers["local"]["ok"], both.providers["local"]["programs"]) == (True, ["a"])


class TestWhyNot:
    def test_names_what_is_missing(self) -> None:
        can = joined(capabilities(("mousepad",)))
        assert can.why_not("local", Task(requires=["mousepad"], os="linux")) == ""
        missing = can.why_not("local", Task(requires=["gimp", "mousepad", "soffice"], os="linux"))
        assert missing == "not installed on local desktops: gimp, soffice"


class TestCheckedConfig:
    def test_fills_in_what_the_agent_asks_for(self) -> None:
        config = checked_config(joined(), RunConfig(agent="noop"))
        assert (config.observation, config.action_space) == ("screenshot", "computer_13")

    def test_keeps_what_was_chosen(self) -> None:
        assert checked_config(joined(), RunConfig(agent="noop", observation="a11y_tree")).observation == "a11y_tree"

    def test_says_which_names_are_near(self) -> None:
        with pytest.raises(UnknownPlugin) as caught:
            checked_config(joined(), RunConfig(agent="orakel"))
        assert (caught.value.path, caught.value.hint) == ("agent", "Did you mean oracle?")

    def test_says_all_names_where_none_is_near(self) -> None:
        with pytest.raises(UnknownPlugin) as caught:
            checked_config(joined(), RunConfig(agent="noop", provider="zzz"))
        assert caught.value.hint == "Known here: local."

    def test_a_provider_that_does_not_work(self) -> None:
        broken = capabilities() | {"providers": {"local": {"ok": False, "reason": "bwrap is refused"}}}
        with pytest.raises(Unavailable, match="bwrap is refused"):
            checked_config(joined(broken), RunConfig(agent="noop"))


class TestCheckedParams:
    def test_an_unknown_one_is_named(self) -> None:
        with pytest.raises(Invalid) as caught:
            checked_params("noop", {"sped": 1})
        assert caught.value.path == "params.sped"

    def test_a_wrong_value_is_named_with_its_path(self) -> None:
        from backend.domain import registry
        from backend.domain.registry import Kind

        registry.load()
        fields = registry.lookup(Kind.AGENT, "random").Params.model_fields
        name = next(iter(fields))
        with pytest.raises(Invalid) as caught:
            checked_params("random", {name: {"no": "number"}})
        assert caught.value.path == f"params.{name}"
