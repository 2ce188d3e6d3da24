"""`background_image_in_slide`: a slide's own background picture."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.evaluators.getters._evidence import ParameterGetter
from backend.domain.evaluators.getters.impress._slide import (
    PptxPackage,
    SlidePart,
    first,
    gather,
    link_target,
    open_package,
)
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register

_BACKGROUND = "{http://schemas.openxmlformats.org/presentationml/2006/main}bgPr"
_PICTURE = "{http://schemas.openxmlformats.org/drawingml/2006/main}blip"
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}"


@register(PluginKind.GETTER, "background_image_in_slide")
class BackgroundImageInSlide(ParameterGetter):
    """`ppt_file_path`, `slide_index` (from 0), `dest`. The value is the path of the picture's copy.

    It may be embedded or linked. None if the file, the slide or the picture is missing.
    """

    Params = SlidePart

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        return gather(context, SlidePart.parse(parameters), "image")

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:
        package, params = open_package(blobs, folder), SlidePart.parse(parameters)
        link_id = None if package is None else _picture_of(package, params.slide_index)
        if package is None or link_id is None:
            return None
        return link_target(first(package.links_of(params), "image", link_id), package, params, blobs, folder)


def _picture_of(package: PptxPackage, slide_index: int) -> str | None:
    root = package.xml(f"ppt/slides/slide{slide_index + 1}.xml")
    for background in () if root is None else root.iter(_BACKGROUND):
        for picture in background.iter(_PICTURE):
            for kind in ("embed", "link"):
                if link_id := picture.get(f"{_RELATION}{kind}"):
                    return link_id
    return None
