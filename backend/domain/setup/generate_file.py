"""`generate_file` (ours): generates a file from a textual description and puts it on the desktop."""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import AfterValidator, Field

from backend.domain.errors import TaskSetupFailed
from backend.domain.file_generators import KINDS, FileRequest, age_days, asks_for_today, make
from backend.domain.model.parameters import Parameters, asset_name
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register

# Runs inside the desktop: how old the file is, by its own clock.
_AGE = """
import json, os, time
path, days = json.loads({values})
path = os.path.expandvars(os.path.expanduser(path))
then = time.time() - days * 86400
os.utime(path, (then, then))
"""


def _check_file_type(file_type: str) -> str:
    if file_type not in KINDS:
        raise ValueError(f"files of type {file_type!r} are not supported; known: {', '.join(sorted(KINDS))}")
    return file_type


class _File(Parameters):
    path: str = Field(min_length=1, max_length=1000)
    file_type: Annotated[str, AfterValidator(_check_file_type)]
    prompts: tuple[Annotated[str, Field(max_length=20_000)], ...] = Field(min_length=1, max_length=50)
    like: str = Field(default="", max_length=20_000)
    asset: str = Field(default="", pattern=r"^(asset:generated/[\w.]{1,100})?$")


@register(PluginKind.SETUP, "generate_file")
class GenerateFile:
    """`path`, `file_type`, `prompts`: descriptions of this one file, all of which it satisfies; `like`, `asset`.

    The bytes depend on these alone, except where a description speaks of today: then on the desktop's date, too. With
    `asset` they are those of that asset, which a model wrote by the same descriptions.
    """

    def check(self, parameters: Mapping[str, Any]) -> None:
        _File.parse(parameters)

    def run(self, context: SetupContext, parameters: Mapping[str, Any]) -> None:
        file = _File.parse(parameters)
        order = FileRequest.from_parameters(parameters)
        if asks_for_today(file.prompts):
            today = datetime.fromtimestamp(context.desktop.probe().clock, UTC).date()
            order = FileRequest(order.name, order.prompts, order.like, today)
        written = context.asset(asset_name(file.asset, "asset")) if file.asset else make(file.file_type, order)
        context.desktop.write_file(file.path, written)
        days = age_days(file.prompts)
        if days:
            _set_age(context, file.path, days)


def _set_age(context: SetupContext, path: str, days: int) -> None:
    result = context.desktop.run_python(_AGE.format(values=repr(json.dumps([path, days]))))
    if result.returncode != 0:
        raise TaskSetupFailed(
            f"the age of {path} could not be set: {result.error.strip()[-300:]}", code="command_failed"
        )
