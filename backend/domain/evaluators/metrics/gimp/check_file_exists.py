"""`check_file_exists`: a folder has a file."""

from pathlib import Path, PurePosixPath

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "check_file_exists")
def check_file_exists(result: str | None, expected: str) -> MetricValue:
    """1 if the folder has a file of that name.

    Args:
        result: path of the folder's copy.
        expected: the file's name, or its path in the folder.

    Raises:
        EvaluatorFailed: the name is invalid, or leads out of the folder.
    """
    name = PurePosixPath(expected) if isinstance(expected, str) and expected else None
    if name is None or name.is_absolute() or ".." in name.parts or "\\" in expected:
        raise EvaluatorFailed(f"{short(expected)} is not the name of a file in a folder", code="invalid_rule")
    if result is None or not Path(result).is_dir():
        return verdict(met=False, reason="the folder does not exist")
    file = Path(result, name)
    exists = file.is_file() and file.resolve().is_relative_to(Path(result).resolve())
    return verdict(exists, f"{expected} is {'' if exists else 'not '}there")
