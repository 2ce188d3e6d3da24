"""`written_assertion` (ours): everything that an author's textual assertion refers to."""

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.errors import EvaluatorFailed, GuestRefused
from backend.domain.evaluators.getters._evidence import (
    ParameterGetter,
    as_json,
    fetch_file,
    json_value,
    python_says,
    write_blob,
)
from backend.domain.evaluators.getters._live import address, page_evidence
from backend.domain.formats.assertions import AssertionFact, parse
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register

# Run inside the desktop. Paths of either system are accepted, so that a task can be tried on both.
_FILES = """
import glob, os
found = []
there = filter(os.path.exists, glob.glob(os.path.expandvars(os.path.expanduser(VALUES["path"]))))
for path in sorted(there)[:20]:
    found.append({"path": path, "folder": os.path.isdir(path)})
print(json.dumps(found))
"""
_PROCESSES = """
import os, subprocess
if os.name == "nt":
    said = subprocess.run(["tasklist", "/fo", "csv", "/nh"], capture_output=True, text=True, timeout=20).stdout
    names = [line.split('","')[0].strip('"') for line in said.splitlines() if line.strip()]
else:
    names = []
    for entry in os.listdir("/proc"):
        try:
            with open("/proc/" + entry + "/comm") as file:
                names.append(file.read().strip())
        except OSError:
            pass
print(json.dumps(sorted(set(names))[:2000]))
"""
MAX_OPENED = 5  # maximum number of files per pattern that are opened
_ABOUT_CONTENT = frozenset({"file_contains", "image_size"})


class _Assertion(Parameters):
    expression: str


@register(PluginKind.GETTER, "written_assertion")
class WrittenAssertion(ParameterGetter):
    """`expression`: see `formats/assertions`. The value is the input of the metric of the same name.

    `{expression, processes, windows, clipboard, addresses, files}`; only what the expression refers to is collected.
    """

    Params = _Assertion

    def check(self, parameters: Mapping[str, Any]) -> None:
        """Raises Invalid for an expression that cannot be read."""
        parse(_Assertion.parse(parameters).expression)

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        facts = list(parse(_Assertion.parse(parameters).expression).facts())
        names = {fact.name for fact in facts}
        blobs: list[Blob] = []
        if "application_running" in names:
            blobs.append(python_says(context, "processes", _PROCESSES))
        if names & {"application_running", "window_active"}:
            windows = [{"title": w.title, "class": w.wm_class, "active": w.active} for w in context.desktop.windows()]
            blobs.append(as_json("windows", windows))
        if "clipboard_contains" in names:
            blobs.append(_clipboard(context))
        if "browser_url_matches" in names:
            blobs += page_evidence(context)
        for path, content in _paths(facts).items():
            blobs += _files(context, path, content=content)
        return blobs

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:
        by_name = {blob.name: blob for blob in blobs}
        evidence: dict[str, Any] = {"expression": _Assertion.parse(parameters).expression, "files": {}}
        for name in ("processes", "windows", "clipboard"):
            if name in by_name:
                evidence[name] = json_value(by_name[name])
        if "open pages" in by_name:
            evidence["addresses"] = _addresses(by_name)
        listed = [blob for blob in blobs if blob.name.startswith(_LISTED)]
        for blob in listed:
            evidence["files"][blob.name.removeprefix(_LISTED)] = list(_copies(blob, by_name, folder))
        return evidence


_LISTED = "files "


def _clipboard(context: SetupContext) -> Blob:
    try:
        return as_json("clipboard", context.desktop.clipboard())
    except GuestRefused as error:
        return Blob(name="clipboard", note=error.message)


def _paths(facts: Sequence[AssertionFact]) -> dict[str, bool]:
    """The paths that facts refer to, and whether the content matters."""
    paths: dict[str, bool] = {}
    for fact in facts:
        if fact.name in {"file_exists", *_ABOUT_CONTENT}:
            paths[fact.text] = paths.get(fact.text, False) or fact.name in _ABOUT_CONTENT
    return paths


def _files(context: SetupContext, path: str, *, content: bool) -> Iterator[Blob]:
    listing = python_says(context, f"{_LISTED}{path}", _FILES, path=path)
    yield listing
    if content and listing.data is not None:
        files = [entry for entry in _entries(listing) if not entry["folder"]]
        yield from (fetch_file(context, str(entry["path"])) for entry in files[:MAX_OPENED])


def _entries(listing: Blob) -> list[dict[str, Any]]:
    entries = json_value(listing)
    if not isinstance(entries, list) or not all(
        isinstance(entry, dict) and {"path", "folder"} <= set(entry) for entry in entries
    ):
        raise EvaluatorFailed(f"the evidence of {listing.name} is damaged", code="evidence_damaged")
    return entries


def _copies(listing: Blob, by_name: Mapping[str, Blob], folder: Path) -> Iterator[dict[str, Any]]:
    for number, entry in enumerate(_entries(listing)):
        blob = by_name.get(str(entry["path"]))
        stem = re.sub(r"\W", "", listing.name)[-20:]
        copy = write_blob(blob, str(entry["path"]), folder / f"{stem}{number}") if blob is not None else None
        yield {"path": entry["path"], "folder": bool(entry["folder"]), "copy": copy}


def _addresses(by_name: Mapping[str, Blob]) -> list[str]:
    tree, pages = by_name["accessibility tree"], by_name["open pages"]
    listed = [str(page["url"]) for page in json_value(pages)] if pages.data is not None else []
    shows = address([tree, pages], "https://") if tree.data is not None else None
    return list(dict.fromkeys([*([shows] if shows else []), *listed]))
