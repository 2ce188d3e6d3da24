"""`check_file_exists`: a file is in a folder."""

from pathlib import Path

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import verdict
from backend.domain.registry import Kind, register
from backend.domain.score import MetricValue


@register(Kind.METRIC, "check_file_exists")
def check_file_exists(result: str | None, expected: str | None) -> MetricValue:
    """1 if the file is there. It is looked for among what a getter has copied, never on the machine that scores.

    Args:
        result: path of the copied folder.
        expected: the file's name, which may lead into sub-folders, but not out of the folder.
    """
    if not isinstance(expected, str) or not expected:
        raise EvaluatorFailed("the name of the file to look for is missing")
    if Path(expected).is_absolute() or ".." in Path(expected).parts:
        raise EvaluatorFailed(f"{expected!r} leads out of the folder")
    if not isinstance(result, str) or not Path(result).is_dir():
        return verdict(met=False, reason="the folder is not there")
    found = (Path(result) / expected).is_file()
    return verdict(found, f"{expected!r} is {'there' if found else 'not there'}")
