"""`check_setting_equals`: the value of a setting."""

import configparser
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field, field_validator

from backend.domain.errors import EvaluatorFailed, Invalid
from backend.domain.evaluators.getters._evidence import ParameterGetter, as_json, fetch_file, json_value, only
from backend.domain.formats.setting_values import plain_value
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.omnibench.expression import DIALECT
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register

KINDS = {"gsettings": 2, "xfconf": 2, "registry": 2, "file": 3}
"""Kinds of settings, and the number of words of their path."""


class CheckSettingEqualsParams(Parameters):
    """`name`: path of the setting; `value`: the expected value.

    The name is one of `gsettings SCHEMA KEY`, `xfconf CHANNEL /PROPERTY`, `registry KEY NAME`, `file PATH SECTION KEY`.
    """

    name: str = Field(min_length=1, max_length=1000)
    value: str = Field(max_length=4000)

    @field_validator("value", mode="before")
    @classmethod
    def _as_text(cls, value: Any) -> Any:
        return str(value) if isinstance(value, bool | int | float) else value

    @property
    def place(self) -> list[str]:
        """The kind and the path; only a registry key and a file's path may contain blanks."""
        kind, _, remainder = self.name.partition(" ")
        return [kind, *remainder.strip().rsplit(maxsplit=KINDS.get(kind, 1) - 1)]


@register(PluginKind.GETTER, "check_setting_equals", dialect=DIALECT)
class CheckSettingEquals(ParameterGetter):
    """The value is `{name, value, found}`; `found` is None if the setting was never set."""

    Params = CheckSettingEqualsParams

    def check(self, parameters: Mapping[str, Any]) -> None:
        """Raises Invalid if the name has none of the known forms."""
        kind, *words = CheckSettingEqualsParams.parse(parameters).place
        if kind not in KINDS or len(words) != KINDS[kind]:
            raise Invalid(f"expected {' or '.join(KINDS)} and where it is", code="invalid_check", path="name")

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        self.check(parameters)
        kind, *words = CheckSettingEqualsParams.parse(parameters).place
        if kind == "file":
            return [fetch_file(context, words[0])]
        commands = {
            "gsettings": ["gsettings", "get", *words],
            "xfconf": ["xfconf-query", "-c", words[0], "-p", words[1]],
            "registry": ["reg", "query", words[0], "/v", words[1]],
        }
        result = context.desktop.execute(commands[kind])
        return [as_json(" ".join(words), result.model_dump())]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002 - the port's signature
        setting = CheckSettingEqualsParams.parse(parameters)
        kind, *words = setting.place
        actual = (
            _in_file(only(blobs), *words[1:])
            if kind == "file"
            else _printed_value(kind, json_value(only(blobs)), words)
        )
        return {"name": setting.name, "value": setting.value, "found": actual}


def _printed_value(kind: str, result: Mapping[str, Any], words: Sequence[str]) -> str | None:
    """The value in a program's output. For gsettings, an unknown setting is an error of the task."""
    if result["returncode"] != 0:
        if kind == "gsettings":
            raise EvaluatorFailed(
                f"gsettings does not know {' '.join(words)}: {str(result['error'])[:300]}", code="evidence_unreadable"
            )
        output = f"{result['output']}{result['error']}"
        if kind == "xfconf" and "does not exist" not in output:
            raise EvaluatorFailed(f"xfconf-query failed: {output[:300]}", code="evidence_unreadable")
        return None
    if kind != "registry":
        return plain_value(str(result["output"]))
    lines = [line.split(None, 2) for line in str(result["output"]).splitlines() if line.startswith("    ")]
    values = {line[0].lower(): (*line[1:], "")[:2] for line in lines if len(line) > 1}  # name: type, data
    form, data = values.get(words[1].lower(), ("", None))
    return str(int(data, 16)) if data and form in {"REG_DWORD", "REG_QWORD"} else data


def _in_file(blob: Blob, section: str, key: str) -> str | None:
    if blob.data is None:
        return None
    parser = configparser.RawConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment, method-assign]  # Keys have their case.
    try:
        parser.read_string(blob.data.decode(errors="replace"))
    except configparser.Error:
        return None
    return parser.get(section, key, fallback=None)
