"""`googledrive`: puts the operator's Google Drive into the state that a task begins with."""

from collections.abc import Mapping
from typing import Annotated, Any, Self

from pydantic import Field, model_validator

from backend.domain.browser.google_drive import FOLDER, SECRET, GoogleDrive
from backend.domain.errors import Invalid, TaskSetupFailed, WebFailed
from backend.domain.model.parameters import Parameters, asset_name
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register

Path = Annotated[tuple[str, ...], Field(min_length=1)]


class _Delete(Parameters):
    query: str = ""
    trash: bool = False


class _Folders(Parameters):
    path: Path


class _Upload(Parameters):
    url: str
    path: Path


_OPERATIONS: Mapping[str, type[Parameters]] = {"delete": _Delete, "mkdirs": _Folders, "upload": _Upload}


class _Drive(Parameters):
    operation: tuple[str, ...]
    args: tuple[Mapping[str, Any], ...]
    settings_file: str = ""

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if len(self.operation) != len(self.args):
            raise ValueError("`operation` and `args` need the same length")
        return self

    def steps(self) -> list[Parameters]:
        """Each operation's own parameters. Raises Invalid with the path of a wrong one."""
        return [self._step(number, name) for number, name in enumerate(self.operation)]

    def _step(self, number: int, name: str) -> Parameters:
        if name not in _OPERATIONS:
            raise Invalid(
                f"{name!r} is not one of {', '.join(_OPERATIONS)}", code="invalid_step", path=f"operation.{number}"
            )
        try:
            step = _OPERATIONS[name].parse(self.args[number])
        except Invalid as error:
            raise Invalid(
                error.message.removeprefix(f"{error.path}: "), code="invalid_step", path=f"args.{number}.{error.path}"
            ) from error
        if isinstance(step, _Upload):
            asset_name(step.url, f"args.{number}.url")
        return step


@register(PluginKind.SETUP, "googledrive")
class GoogleDriveStep:
    """`operation` (`delete`, `mkdirs`, `upload`) and `args`, lists of the same length; `settings_file` is not read.

    The account comes from the secret `googledrive_settings`. `delete` takes `query`, `trash`; `mkdirs` `path`; `upload`
    `url` (an asset) and `path`. Where upstream stops after the first upload, and takes its whole path for a name, this
    goes on and makes the folders.
    """

    def check(self, parameters: Mapping[str, Any]) -> None:
        _Drive.parse(parameters).steps()

    def run(self, context: SetupContext, parameters: Mapping[str, Any]) -> None:
        steps = _Drive.parse(parameters).steps()
        try:
            drive = GoogleDrive(context.web, context.secret(SECRET))
            for step in steps:
                _carry_out(step, context, drive)
        except (Invalid, WebFailed) as error:
            raise TaskSetupFailed(error.message, code="step_failed", hint=error.hint) from error


def _carry_out(step: Parameters, context: SetupContext, drive: GoogleDrive) -> None:
    if isinstance(step, _Delete):
        # Files first: with a folder goes all that is in it, and that could not be found any more.
        for relation in ("!=", "="):
            own = f"mimeType {relation} '{FOLDER}'"
            for file in drive.find(f"( {step.query} ) and {own}" if step.query.strip() else own):
                drive.delete(file, trash=step.trash)
    elif isinstance(step, _Folders):
        drive.folder(step.path)
    elif isinstance(step, _Upload):
        drive.upload(step.path, context.asset(asset_name(step.url, "url")))
