"""`info_from_website`: texts and attributes of a live page of the web."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import model_validator

from backend.domain.errors import EvaluatorFailed, GuestRefused
from backend.domain.evaluators.getters._evidence import ParameterGetter, as_json, json_value, only
from backend.domain.evaluators.getters._live import background_page, running
from backend.domain.evaluators.getters.chrome._script import Script
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.ports.web import Browser
from backend.domain.registry import PluginKind, register


class _Info(Parameters):
    action: Literal["inner_text", "attribute", "click_and_inner_text", "click_and_attribute"] = "inner_text"
    selector: str | tuple[str, ...]
    attribute: str = ""

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if self.action.startswith("click") == isinstance(self.selector, str) or not self.selector:
            raise ValueError("`selector` is a list for actions that click, else one selector")
        if self.action.endswith("attribute") and not self.attribute:
            raise ValueError("`attribute` is missing")
        return self


class _Website(Parameters):
    url: str
    infos: tuple[_Info, ...]
    backups: Any = None


@register(PluginKind.GETTER, "info_from_website")
class InfoFromWebsite(ParameterGetter):
    """`url`, `infos` (each `action`, `selector`, `attribute`), `backups`.

    The value is a list with one text per info. If the page is unavailable, the task's `backups` are used; without them
    there is no verdict.
    """

    Params = _Website

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        params = _Website.parse(parameters)
        try:
            browser = running(context)
            if browser is None:
                return [Blob(name=params.url, note="no browser answers")]
            with background_page(browser, params.url, settled=False) as tab:
                script = Script(context.desktop, browser, tab.id)
                return [as_json(params.url, [_perform(browser, script, params.url, info) for info in params.infos])]
        except GuestRefused as error:
            return [Blob(name=params.url, note=error.message)]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        blob, params = only(blobs), _Website.parse(parameters)
        if blob.data is not None:
            return json_value(blob)
        if params.backups is None:
            raise EvaluatorFailed(
                f"{params.url} could not be reached, and the task has no `backups`: {blob.note}",
                code="evidence_unreadable",
            )
        return params.backups


def _perform(browser: Browser, script: Script, url: str, info: _Info) -> Any:
    if browser.evaluate(script.tab, "location.href") != url:
        browser.navigate(script.tab, url)
    *clicks, last = (info.selector,) if isinstance(info.selector, str) else info.selector
    for selector in clicks:
        script.click(selector)
    return script.attribute(last, info.attribute) if info.action.endswith("attribute") else script.text(last)
