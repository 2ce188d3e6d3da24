"""State of folders in Explorer and the file system, queried through PowerShell.

Each query is a script that prints JSON; paths and names are passed as data, so none is ever code.
"""

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any

from guest_server.protocol.errors import GuestError
from guest_server.protocol.machine import CommandSpec, Machine
from guest_server.windows.api import is_wine

_SECONDS = 30.0
_LIMIT = 2**22
_COMMAND = ("powershell.exe", "-NoProfile", "-NonInteractive", "-ExecutionPolicy", "Bypass", "-EncodedCommand")

FOLDER_VIEWS = """
$shell = New-Object -ComObject Shell.Application
$found = @(foreach ($window in $shell.Windows()) {
    $view = $window.Document
    if ($view -and $view.Folder) {
        @{ path = $view.Folder.Self.Path; mode = $view.CurrentViewMode; sort = $view.SortColumns }
    }
})
ConvertTo-Json -Compress -Depth 4 @{ found = $found }
"""
"""Open folder windows: path, view mode (4 = details), and sorting (`prop:-System.DateModified;`)."""

TAGS = """
$folder = (New-Object -ComObject Shell.Application).Namespace($asked.directory)
$found = @(foreach ($item in $folder.Items()) {
    if (-not $item.IsFolder) {
        @{ name = $item.Name; path = $item.Path; tags = @($item.ExtendedProperty('System.Keywords')) }
    }
})
ConvertTo-Json -Compress -Depth 4 @{ found = $found }
"""
"""Files of a folder with their tags."""

RIGHTS = """
$sid = [Security.Principal.SecurityIdentifier]
$rules = (Get-Acl -LiteralPath $asked.directory).GetAccessRules($true, $true, $sid)
$account = (New-Object Security.Principal.NTAccount($asked.user)).Translate($sid).Value
$groups = @(Get-LocalGroup | Where-Object {
    (Get-LocalGroupMember -Group $_ -ErrorAction SilentlyContinue).SID.Value -contains $account
} | ForEach-Object { $_.SID.Value })
$found = @(foreach ($rule in $rules) {
    @{
        sid = $rule.IdentityReference.Value
        allow = ($rule.AccessControlType -eq 'Allow')
        rights = [int]$rule.FileSystemRights
        only_below = (($rule.PropagationFlags -band 2) -ne 0)
    }
})
ConvertTo-Json -Compress -Depth 4 @{ account = $account; groups = $groups; found = $found }
"""
"""Access rules of a folder, with the account and its groups by identifier."""

DETAILS = 4
_MODIFIED = ("system.datemodified", "system.itemdate")
_LIST, _CREATE_FILES, _CREATE_FOLDERS = 0x0001, 0x0002, 0x0004
_EVERYBODY = frozenset({"S-1-1-0", "S-1-5-11", "S-1-5-4", "S-1-2-0"})
"""Everyone, authenticated, interactive and local users: every account is a member."""


def ask(machine: Machine, script: str, values: Mapping[str, str]) -> dict[str, Any]:
    """Runs a script with its arguments; returns its output.

    Raises:
        GuestError: `not_available` without PowerShell, `failed` with PowerShell's message.
    """
    # Wine has a stub program of that name.
    if is_wine() or not machine.shell.program(_COMMAND[0]):
        raise GuestError("not_available", "this desktop has no PowerShell to ask Explorer with")
    result = machine.commands.run(CommandSpec(question(script, values)), timeout=_SECONDS, limit=_LIMIT)
    start = result.output.find("{")
    try:
        answer = json.loads(result.output[start:]) if start >= 0 else None
    except ValueError:
        answer = None
    if result.returncode or not isinstance(answer, dict):
        raise GuestError("failed", f"Explorer could not be asked: {(result.error or result.output).strip()[-500:]}")
    return answer


def question(script: str, values: Mapping[str, str]) -> list[str]:
    """The command: arguments as data, the script in Windows' encoded form."""
    arguments = base64.b64encode(json.dumps(dict(values)).encode("utf-8")).decode("ascii")
    source = (
        "$ErrorActionPreference = 'Stop'\n$ProgressPreference = 'SilentlyContinue'\n"
        "[Console]::OutputEncoding = [Text.Encoding]::UTF8\n"
        f"$bytes = [Convert]::FromBase64String('{arguments}')\n"
        f"$asked = [Text.Encoding]::UTF8.GetString($bytes) | ConvertFrom-Json\n{script.strip()}\n"
    )
    return [*_COMMAND, base64.b64encode(source.encode("utf-16-le")).decode("ascii")]


def same_folder(first: str, second: str) -> bool:
    """Whether two paths refer to the same folder, ignoring the kind of slash."""
    return _plain(first) == _plain(second)


def _plain(path: str) -> str:
    return path.replace("/", "\\").rstrip("\\").casefold()


def shows_details(views: Sequence[Mapping[str, Any]], path: str) -> bool:
    """Whether a window of Explorer shows that folder as a list with details."""
    return any(view.get("mode") == DETAILS and same_folder(str(view.get("path")), path) for view in views)


def sorted_by_time(views: Sequence[Mapping[str, Any]], path: str) -> bool:
    """Whether a window of Explorer sorts that folder by modification time first, in either direction."""
    return any(
        same_folder(str(view.get("path")), path)
        and str(view.get("sort")).lower().removeprefix("prop:").lstrip("+-").startswith(_MODIFIED)
        for view in views
    )


def untagged_pictures(files: Sequence[Mapping[str, Any]], tag: str, endings: tuple[str, ...]) -> list[str]:
    """Names of pictures without a tag."""
    pictures = [file for file in files if str(file.get("path")).lower().endswith(endings)]
    return [str(picture.get("name")) for picture in pictures if tag not in (picture.get("tags") or [])]


def is_read_only(answer: Mapping[str, Any]) -> bool:
    """Whether an account may read a folder but create neither files nor folders in it.

    Rules apply in order: the first decision for a right counts, as in Windows.
    """
    accounts = {str(answer.get("account")), *map(str, answer.get("groups") or [])} | _EVERYBODY
    decided: dict[int, bool] = {}
    for rule in answer.get("found") or []:
        if str(rule.get("sid")) not in accounts or rule.get("only_below"):
            continue
        rights = int(rule.get("rights", 0))
        for bit in (_LIST, _CREATE_FILES, _CREATE_FOLDERS):
            if rights & bit or _is_generic(rights, bit):
                decided.setdefault(bit, bool(rule.get("allow")))
    return decided.get(_LIST, False) and not any(decided.get(bit, False) for bit in (_CREATE_FILES, _CREATE_FOLDERS))


def _is_generic(rights: int, bit: int) -> bool:
    """Generic rights for everything, reading or writing, which stand for the specific ones."""
    rights &= 0xFFFFFFFF
    return bool(rights & (0x10000000 | (0x80000000 if bit == _LIST else 0x40000000)))
