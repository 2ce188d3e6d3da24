"""`compare_archive`: two archives hold the same files, compared by a metric of their type."""

import inspect
import tempfile
from pathlib import Path
from typing import Any

from backend.domain import registry
from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.formats.archives import ArchiveRefused, unpack
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

_METRICS = {
    "text": "compare_text_file",
    "pdf": "compare_pdfs",
    "docx": "compare_docx_files",
    "ppt": "compare_pptx_files",
    "image": "compare_images",
    "csv": "compare_csv",
    "table": "compare_table",
    "audio": "compare_audios",
    "video": "compare_videos",
}


@register(PluginKind.METRIC, "compare_archive")
def compare_archive(  # noqa: PLR0913 - upstream's options
    pred_path: str | None,
    gold_path: str | None,
    *,
    file_path: str = "",
    file_type: str = "text",
    strict_upstream: bool = False,
    **options: Any,
) -> MetricValue:
    """The mean score of the metric for `file_type` over all files; 0 if the archives contain other files.

    Args:
        pred_path: the archive to judge (zip, tar, tar.gz, tar.bz2, tar.xz).
        gold_path: the archive to compare with.
        file_path: the folder in both archives whose files are compared.
        file_type: `text`, `pdf`, `docx`, `ppt`, `image`, `csv`, `table`, `audio` or `video`.
        strict_upstream: passed to the metric, if it has this option.
        **options: options of the metric.
    """
    if file_type not in _METRICS:
        raise EvaluatorFailed(
            f"`file_type` is {short(file_type)}, expected one of {', '.join(_METRICS)}", code="invalid_rule"
        )
    metric = registry.lookup(PluginKind.METRIC, _METRICS[file_type])
    if strict_upstream and "strict_upstream" in inspect.signature(metric).parameters:
        options["strict_upstream"] = True
    with tempfile.TemporaryDirectory() as folder:
        try:
            gold_files = unpack(gold_path, file_path, Path(folder) / "gold")
        except ArchiveRefused as error:
            raise EvaluatorFailed(f"expected archive: {error}", code="invalid_reference") from error
        if not gold_files:
            raise EvaluatorFailed(f"the expected archive has no files in {file_path!r}", code="invalid_reference")
        try:
            files = unpack(pred_path, file_path, Path(folder) / "pred")
        except ArchiveRefused as error:
            return verdict(met=False, reason=str(error))
        if sorted(files) != sorted(gold_files):
            return verdict(
                met=False, reason=f"the files are {short(sorted(files))}, expected {short(sorted(gold_files))}"
            )
        scores = {name: metric(str(files[name]), str(gold_files[name]), **options) for name in sorted(gold_files)}
    reasons = [f"{name}: {value.value:g}: {reason}" for name, value in scores.items() for reason in value.reasons[:1]]
    total = sum(value.value for value in scores.values()) / len(scores)
    return MetricValue(value=total, reasons=tuple(reason.replace(f"{folder}/", "") for reason in reasons[:20]))
