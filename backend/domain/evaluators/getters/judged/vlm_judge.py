"""`vlm_judge`: the judgement of the whole attempt by the run's judge, a vision-language model (docs/judges.md)."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.getters._evidence import JSON_TYPE, ParameterGetter, json_value, only
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


@register(PluginKind.GETTER, "vlm_judge")
class VlmJudge(ParameterGetter):
    """The judgement as JSON (`backend.domain.judging.judgement.Judgement`). All calls of a task share one."""

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:  # noqa: ARG002
        """See the port. If the judge fails, the rest is still collected, and the judge can be asked later."""
        try:
            return [Blob(name="judgement.json", data=context.judgement(), media_type=JSON_TYPE)]
        except EvaluatorFailed as error:
            return [Blob(name="judgement.json", note=error.text)]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        """See the port. Raises EvaluatorFailed if the judge gave no judgement."""
        return json_value(only(blobs))
