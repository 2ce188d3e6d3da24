from typing import Any

import pytest

from backend.db.models import Task
from backend.domain import registry
from backend.domain.errors import Conflict, Invalid, UnknownPlugin
from backend.domain.model.reason import Reason, ReasonCode
from backend.domain.model.run import RunConfig, ScreenSize
from backend.domain.registry import PluginKind
from backend.services.capacity.config_checks import checked_config, checked_options, checked_params, resolved_config
from backend.services.capacity.run_request import RunRequest
from backend.services.capacity.worker_capabilities import Capabilities, has_judge, merge_offers, programs_of
from tests.error_codes import raises_code
from tests.factories.records import capabilities


def joined(*said: dict[str, Any]) -> Capabilities:
    return merge_offers(said or [capabilities()], 1)


def capabilities_of(agent: str) -> dict[str, Any]:
    """Capabilities of a worker that offers this agent and all spaces."""
    registry.load()
    plugin = registry.lookup(PluginKind.AGENT, agent)
    about = {"observation": plugin.observation, "action_space": plugin.action_space, "privileged": False}
    return capabilities() | {
        "agents": {agent: {"about": plugin.about, "schema": plugin.Params.model_json_schema(), **about}},
        "observations": registry.names(PluginKind.OBSERVATION),
        "action_spaces": registry.names(PluginKind.ACTION_SPACE),
    }


class TestJoin:
    def test_programs_of_two_workers_add_up(self) -> None:
        both = joined(capabilities(("a", "b")), capabilities(("b", "c")))
        assert both.providers["local"]["programs"] == ["a", "b", "c"]

    @pytest.mark.parametrize("order", [1, -1])
    def test_a_provider_works_where_one_worker_can_make_it(self, order: int) -> None:
        broken = capabilities() | {"providers": {"local": {"ok": False, "reason": "no", "programs": ["x"]}}}
        both = joined(*[capabilities(("a",)), broken][::order])
        assert (both.providers["local"]["ok"], both.providers["local"]["programs"]) == (True, ["a"])


def code(reason: Reason | None) -> ReasonCode | None:
    return reason.code if reason else None


class TestWhyNot:
    def test_names_what_is_missing(self) -> None:
        can = joined(capabilities(("mousepad",)))
        assert can.why_not("local", Task(requires=["mousepad"], os="linux")) is None
        missing = can.why_not("local", Task(requires=["gimp", "mousepad", "soffice"], os="linux"))
        assert missing == Reason(ReasonCode.PROGRAMS_NOT_INSTALLED, "not installed on local desktops: gimp, soffice")

    def test_a_version_that_no_desktop_has_is_missing(self) -> None:
        can = joined(capabilities(("photoshop", "photoshop 26.8")))
        task = Task(requires=["photoshop", "photoshop 26.7"], os="linux", licences={"Photoshop": 1})
        missing = can.why_not("local", task)
        assert missing is not None
        assert missing.code is ReasonCode.PROGRAMS_NOT_INSTALLED
        assert ": photoshop 26.7; needs a licence of Photoshop" in missing.text

    def test_any_browser_will_do(self) -> None:
        task = Task(requires=["chrome"], os="linux")
        assert joined(capabilities(("chromium",))).why_not("local", task) is None
        assert code(joined(capabilities(("firefox",))).why_not("local", task)) is ReasonCode.PROGRAMS_NOT_INSTALLED

    def test_first_of_several_reasons_gives_the_code(self) -> None:
        task = Task(requires=["gimp"], os="linux", requires_judge=True, licences={"ANSYS": 1})
        missing = joined(capabilities()).why_not("local", task, judge=False)
        assert missing is not None
        assert (missing.code, missing.text.count("; ")) == (ReasonCode.PROGRAMS_NOT_INSTALLED, 2)
        ready = joined(capabilities(("gimp",))).why_not("local", task, judge=False)
        assert ready is not None
        assert ready.code is ReasonCode.LICENCE_MISSING


class TestProgramsOf:
    def test_by_system_where_there_is_one_kind_of_desktop(self) -> None:
        able = {"providers": {"local": {"programs": ["mousepad"], "os": ["linux"]}}}
        assert programs_of(able, "local") == {"linux": {"": {"mousepad"}}}
        assert programs_of(able, "qemu").keys() == {"linux", "windows"}

    def test_by_image_where_there_are_several(self) -> None:
        """A program of one system is none of another: a task of Windows does not get Linux's office suite."""
        linux = {"name": "linux", "os": "linux", "default": True, "programs": ["soffice"]}
        wine = {"name": "wine", "os": "windows", "default": True, "programs": ["notepad"]}
        offer = {"programs": ["notepad", "soffice"], "os": ["linux", "windows"], "images": [linux, wine]}
        assert programs_of({"providers": {"local": offer}}, "local") == {
            "linux": {"": {"soffice"}, "linux": {"soffice"}},
            "windows": {"": {"notepad"}, "wine": {"notepad"}},
        }

    def test_unavailable_programs_are_left_out(self) -> None:
        linux = {"name": "linux", "os": "linux", "programs": ["soffice"]}
        wine = {"name": "wine", "os": "windows", "reason": "Wine is not installed"}
        offer = {"programs": ["soffice"], "os": ["linux", "windows"], "images": [linux, wine]}
        assert programs_of({"providers": {"local": offer}}, "local").keys() == {"linux"}


LINUX = {"name": "debian", "os": "linux", "programs": ["mousepad"], "screens": [{"width": 1280, "height": 800}]}
WINDOWS = {"name": "eleven", "os": "windows", "programs": ["notepad"]}


def with_images(*images: dict[str, Any], **more: Any) -> Capabilities:
    """A worker with the provider `vm`."""
    programs = sorted({name for image in images for name in image["programs"]})
    offer = {"ok": True, "reason": "", "programs": programs, "os": ["linux", "windows"], "images": list(images)}
    return joined(capabilities(vm={**offer, **more}))


class TestImages:
    def test_a_task_looks_for_the_image_of_its_system(self) -> None:
        can = with_images(LINUX, WINDOWS)
        assert can.why_not("vm", Task(requires=["notepad"], os="windows")) is None
        assert code(can.why_not("vm", Task(requires=["notepad"], os="linux"))) is ReasonCode.PROGRAMS_NOT_INSTALLED

    def test_the_image_that_a_run_names_counts_alone(self) -> None:
        can = with_images(LINUX, WINDOWS)
        why = can.why_not("vm", Task(requires=[], os="linux"), image="eleven")
        assert why == Reason(ReasonCode.SYSTEM_NOT_OFFERED, "needs linux; the image eleven has windows")
        assert can.why_not("vm", Task(requires=["mousepad"], os="linux"), image="debian") is None

    def test_unusable_image_has_a_reason(self) -> None:
        can = with_images(LINUX, {**WINDOWS, "reason": "Wine is not installed"})
        why = can.why_not("vm", Task(requires=["notepad"], os="windows"))
        text = "vm desktops for windows cannot be made here: Wine is not installed"
        assert why == Reason(ReasonCode.IMAGE_UNUSABLE, text)

    def test_ambiguous_image_must_be_named(self) -> None:
        can = with_images(LINUX, {**LINUX, "name": "other"}, {**WINDOWS, "default": True})
        unclear = can.why_not("vm", Task(requires=[], os="linux"))
        assert unclear is not None
        assert (unclear.code, "(debian, other)" in unclear.text) == (ReasonCode.IMAGE_UNCLEAR, True)
        assert can.why_not("vm", Task(requires=[], os="linux"), image="other") is None
        assert can.why_not("vm", Task(requires=[], os="windows")) is None

    def test_unusable_image_is_not_chosen(self) -> None:
        can = with_images(LINUX, {**LINUX, "name": "other", "reason": "it is damaged"})
        assert can.why_not("vm", Task(requires=[], os="linux")) is None

    def test_image_without_the_runs_screen_size_is_unusable(self) -> None:
        shown, not_shown = ScreenSize(width=1280, height=800), ScreenSize(width=640, height=480)
        can = with_images(WINDOWS, {**LINUX, "screens": [shown.model_dump()]})
        assert can.why_not("vm", Task(requires=[], os="linux"), screen=shown) is None
        assert code(can.why_not("vm", Task(requires=[], os="linux"), screen=not_shown)) is ReasonCode.IMAGE_UNUSABLE

    def test_the_default_one_of_any_worker_is_the_default(self) -> None:
        both = joined(*[{"providers": with_images({**LINUX, "default": each}).providers} for each in (True, False)])
        assert [image.default for image in both.images("vm")] == [True]

    def test_images_of_workers_are_merged_and_usable_ones_win(self) -> None:
        broken = {**LINUX, "reason": "its disk is damaged"}
        here, there = with_images(broken), with_images(LINUX, WINDOWS)
        for order in ([here, there], [there, here]):
            both = joined(*[{"providers": can.providers} for can in order])
            assert {image.name: image.reason for image in both.images("vm")} == {"debian": "", "eleven": ""}


class TestCheckedImage:
    def config(self, **more: Any) -> RunConfig:
        return RunConfig(agent="noop", provider="vm", screen=ScreenSize(width=1280, height=800), **more)

    def test_known_image_is_accepted(self) -> None:
        can = with_images(LINUX, WINDOWS)
        assert checked_config(can, self.config(desktop_image="debian")).desktop_image == "debian"
        assert checked_config(can, self.config()).desktop_image is None

    def test_unknown_image_gets_a_suggestion(self) -> None:
        with raises_code(UnknownPlugin, "unknown_plugin", mentions="debian-full") as caught:
            checked_config(with_images(LINUX), self.config(desktop_image="debian-full"))
        assert (caught.value.path, caught.value.hint) == ("desktop_image", "Did you mean debian?")

    def test_a_provider_without_images(self) -> None:
        with raises_code(UnknownPlugin, "unknown_plugin", mentions="debian"):
            checked_config(joined(), RunConfig(agent="noop", desktop_image="debian"))

    def test_two_of_one_system_and_no_choice(self) -> None:
        can = with_images(LINUX, {**LINUX, "name": "other"})
        with raises_code(Invalid, "image_ambiguous"):
            checked_config(can, self.config())
        chosen = with_images(LINUX, {**LINUX, "name": "other", "default": True})
        assert checked_config(chosen, self.config()).desktop_image is None

    def test_unusable_image_is_refused(self) -> None:
        can = with_images({**LINUX, "reason": "its disk is damaged"})
        with raises_code(Conflict, "image_not_runnable", mentions="its disk is damaged"):
            checked_config(can, self.config(desktop_image="debian"))

    def test_a_screen_that_it_cannot_show(self) -> None:
        config = RunConfig(agent="noop", provider="vm", desktop_image="debian")
        with pytest.raises(Invalid) as caught:
            checked_config(with_images(LINUX), config)
        assert (caught.value.path, caught.value.hint) == ("screen", "It supports 1280x800.")


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
        with raises_code(Conflict, "provider_not_runnable"):
            checked_config(joined(broken), RunConfig(agent="noop"))


class TestCheckedOptions:
    def test_values_equal_to_defaults_are_dropped(self) -> None:
        assert checked_options(PluginKind.OBSERVATION, "a11y_tree", {}) is None
        assert checked_options(PluginKind.OBSERVATION, "a11y_tree", {"clipboard": False}) is None

    def test_all_options_are_returned_if_one_differs(self) -> None:
        found = checked_options(PluginKind.OBSERVATION, "a11y_tree", {"clipboard": True})
        assert found is not None
        assert (found["clipboard"], found["terminal"]) == (True, False)

    def test_unknown_option_gets_a_suggestion(self) -> None:
        with pytest.raises(Invalid) as caught:
            checked_options(PluginKind.OBSERVATION, "a11y_tree", {"clipbord": True})
        assert (caught.value.path, caught.value.hint) == ("observation_params.clipbord", "Did you mean clipboard?")

    def test_a_wrong_value_is_named(self) -> None:
        with pytest.raises(Invalid) as caught:
            checked_options(PluginKind.ACTION_SPACE, "omni", {"double": "perhaps"})
        assert caught.value.path == "action_params.double"


class TestResolvedConfig:
    def test_the_preset_is_filled_in_and_checked(self) -> None:
        can = joined(capabilities_of("prompt"))
        request = RunRequest(
            benchmark="b", agent="prompt", params={"model": "m"}, preset="osworld", budget={"max_steps": 3}
        )
        config = resolved_config(can, request)
        assert (config.budget.max_steps, config.params["history"], config.params["top_p"]) == (3, 3, 0.9)

    def test_observations_that_the_agent_adds(self) -> None:
        can = joined(capabilities_of("prosoft"))
        config = resolved_config(can, RunRequest(benchmark="b", agent="prosoft", params={"model": "m"}))
        assert config.observation_params is not None
        assert config.observation_params["clipboard"] is True
        given = {"clipboard": False, "previous": False, "windows": False}
        asked = RunRequest(benchmark="b", agent="prosoft", params={"model": "m"}, observation_params=given)
        assert resolved_config(can, asked).observation_params is None

    def test_an_unknown_preset(self) -> None:
        with raises_code(Invalid, "unknown_preset", mentions="osword"):
            resolved_config(joined(), RunRequest(benchmark="b", agent="noop", preset="osword"))

    def test_a_picture_as_it_is_is_none(self) -> None:
        assert resolved_config(joined(), RunRequest(benchmark="b", agent="noop", image={"scale": 1.0})).image is None


class TestCheckedParams:
    def test_an_agent_that_asks_a_model_must_be_told_which(self) -> None:
        with pytest.raises(Invalid) as caught:
            checked_params("prompt", {})
        assert caught.value.path == "params.model"

    def test_an_unknown_one_is_named(self) -> None:
        with pytest.raises(Invalid) as caught:
            checked_params("noop", {"sped": 1})
        assert caught.value.path == "params.sped"

    def test_a_wrong_value_is_named_with_its_path(self) -> None:
        from backend.domain import registry
        from backend.domain.registry import PluginKind

        registry.load()
        fields = registry.lookup(PluginKind.AGENT, "random").Params.model_fields
        name = next(iter(fields))
        with pytest.raises(Invalid) as caught:
            checked_params("random", {name: {"no": "number"}})
        assert caught.value.path == f"params.{name}"


class TestHasJudge:
    @pytest.mark.parametrize(
        ("more", "wanted"),
        [
            ({}, False),
            ({"variant": "language=cn"}, False),
            ({"variant": "judge=none"}, True),
            ({"judge": {"endpoint": "openai", "model": "m"}}, True),
        ],
    )
    def test_a_variant_without_a_judge_needs_none(self, more: dict[str, Any], wanted: bool) -> None:  # noqa: FBT001
        assert has_judge(RunConfig.model_validate({"agent": "noop", **more})) is wanted
