"""`validate_pwa_installed`: whether a web app is installed on Windows. WAA."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.errors import EvaluatorFailed, GuestRefused
from backend.domain.evaluators.getters._evidence import ParameterGetter, only
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register

COMMAND = ("powershell", "-NoProfile", "-Command", "Get-AppxPackage | Select-Object Name | ConvertTo-Json")
MAKER = "pwabuilder"


@register(PluginKind.GETTER, "validate_pwa_installed")
class ValidatePwaInstalled(ParameterGetter):
    """No parameters. The value is `app_installed` if a package of PWABuilder exists, else `app_not_installed`."""

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:  # noqa: ARG002
        try:
            result = context.desktop.execute(list(COMMAND))
        except GuestRefused as error:
            return [Blob(name="installed packages", note=error.message)]
        note = f"exit code {result.returncode}: {result.error.strip()[:500]}" if result.returncode else ""
        return [Blob(name="installed packages", data=None if note else result.output.encode(), note=note)]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        blob = only(blobs)
        if blob.data is None:
            raise EvaluatorFailed(f"the installed packages are unknown: {blob.note}", code="evidence_unreadable")
        try:
            packages = json.loads(blob.data or b"[]")
        except ValueError as error:
            raise EvaluatorFailed(f"the list of packages is damaged: {error}", code="evidence_damaged") from error
        # PowerShell prints a list of one element as the element.
        entries = packages if isinstance(packages, list) else [packages]
        names = [str(package.get("Name", "")) for package in entries if isinstance(package, Mapping)]
        return "app_installed" if any(MAKER in name.lower() for name in names) else "app_not_installed"
