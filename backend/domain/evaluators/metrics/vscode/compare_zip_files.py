"""`compare_zip_files`: two zip files contain the same files."""

import difflib
import re
import tempfile
import zipfile
from collections.abc import Mapping
from pathlib import Path

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.failures import let_through
from backend.domain.formats.packages import DAMAGE, check_archive
from backend.domain.formats.pdf import PdfRefused, read_text
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

PDF_LIKENESS = 0.95
_MOST = 20
_HERE = re.compile(r"^(?:\./)+")


@register(PluginKind.METRIC, "compare_zip_files")
def compare_zip_files(result: str | None, expected: str | None, *, strict_upstream: bool = False) -> MetricValue:
    """1 if both have files of the same names with the same bytes; PDFs need a text similarity of 0.95.

    Args:
        result: path of the zip file to judge.
        expected: path of the expected zip file.
        strict_upstream: entries of folders count, which only some programs write.
    """
    reason = check_archive(expected)
    if reason:
        raise EvaluatorFailed(f"expected file: {reason}", code="invalid_reference")
    reason = check_archive(result)
    if reason:
        return verdict(met=False, reason=reason)
    try:
        members = _members(str(result), folders=strict_upstream)
    except DAMAGE as error:
        let_through(error)
        return verdict(met=False, reason=f"the file is damaged: {type(error).__name__}")
    wrong = _differences(members, _members(str(expected), folders=strict_upstream))
    return MetricValue(
        value=float(not wrong), reasons=tuple(wrong[:_MOST]) or (f"all {len(members)} files are the same",)
    )


def _members(path: str, *, folders: bool) -> dict[str, bytes]:
    """Content by name. Entries of folders are left out, unless the folder is empty."""
    with zipfile.ZipFile(path) as package:
        read = {name: package.read(name) for name in package.namelist()}
    if folders:
        return read
    named = {_HERE.sub("", name.replace("\\", "/")): data for name, data in read.items()}
    parents = {f"{parent}/" for name in named for parent in Path(name).parents}
    return {name: data for name, data in named.items() if name not in parents}


def _differences(actual: Mapping[str, bytes], expected: Mapping[str, bytes]) -> list[str]:
    wrong = [f"{short(name)} is missing" for name in expected if name not in actual]
    wrong += [f"{short(name)} is unexpected" for name in actual if name not in expected]
    if wrong:
        return wrong
    return [f"{short(name)} differs" for name, data in expected.items() if not _same(name, actual[name], data)]


def _same(name: str, result: bytes, gold: bytes) -> bool:
    if result == gold or not name.lower().endswith(".pdf"):
        return result == gold
    with tempfile.TemporaryDirectory() as folder:
        try:
            actual, expected = _text(Path(folder, "found"), result), _text(Path(folder, "wanted"), gold)
        except PdfRefused:
            return False
    likeness = difflib.SequenceMatcher(None, actual, expected)
    bounds = likeness.real_quick_ratio(), likeness.quick_ratio()
    return actual == expected or (min(bounds) >= PDF_LIKENESS and likeness.ratio() >= PDF_LIKENESS)


def _text(path: Path, data: bytes) -> str:
    path.write_bytes(data)
    return read_text(str(path))
