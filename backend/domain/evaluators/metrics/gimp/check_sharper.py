"""`check_sharper`: a picture is sharper than another."""

from pathlib import Path
from typing import TYPE_CHECKING

from backend.domain.evaluators.metrics._pictures import pair
from backend.domain.evaluators.metrics._verdicts import verdict
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

if TYPE_CHECKING:
    from PIL.Image import Image


@register(PluginKind.METRIC, "check_sharper")
def check_sharper(result: str | None, expected: str | None) -> MetricValue:
    """1 if the variance of the Laplacian is higher than the other picture's.

    Args:
        result: path of the agent's picture.
        expected: path of the original.

    Raises:
        EvaluatorFailed: the original cannot be read.
    """
    picture, original, reason = pair(result, expected)
    if picture is None:
        return verdict(met=False, reason=reason)
    actual, old = _sharpness(str(result), picture), _sharpness(str(expected), original)
    return verdict(actual > old, f"sharpness {actual:.2f}, of the original {old:.2f}, expected more")


def _sharpness(path: str, picture: "Image") -> float:
    """Variance of the Laplacian. OpenCV decodes the valid file itself, because its grey values differ from Pillow's."""
    import cv2
    import numpy as np

    grey = cv2.imdecode(np.frombuffer(Path(path).read_bytes(), dtype=np.uint8), cv2.IMREAD_GRAYSCALE)
    if grey is None:  # A format that only Pillow supports.
        grey = np.asarray(picture.convert("L"))
    return float(np.var(cv2.Laplacian(grey, cv2.CV_64F)))
