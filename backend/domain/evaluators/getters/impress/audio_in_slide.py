"""`audio_in_slide`: the sound of a slide."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.evaluators.getters._evidence import ParameterGetter
from backend.domain.evaluators.getters.impress._slide import SlidePart, first, gather, link_target, open_package
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


@register(PluginKind.GETTER, "audio_in_slide")
class AudioInSlide(ParameterGetter):
    """`ppt_file_path`, `slide_index` (from 0), `dest`. The value is the path of the sound's copy.

    It may be embedded or linked. None if the file or the sound is missing.
    """

    Params = SlidePart

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        return gather(context, SlidePart.parse(parameters), "audio")

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:
        package, params = open_package(blobs, folder), SlidePart.parse(parameters)
        if package is None:
            return None
        return link_target(first(package.links_of(params), "audio"), package, params, blobs, folder)
