"""`waa`: the full observation of WindowsAgentArena's agents."""

from pydantic import BaseModel, Field

from backend.domain.observations._som import MarkedSpace, MarkOptions, Source
from backend.domain.registry import PluginKind, register


class WaaOptions(MarkOptions):
    """As for set-of-marks, with everything else switched on."""

    sources: tuple[Source, ...] = Field(
        default=("tree", "dom"), min_length=1, description=MarkOptions.model_fields["sources"].description
    )
    windows: bool = Field(default=True, description=MarkOptions.model_fields["windows"].description)
    tabs: bool = Field(default=True, description=MarkOptions.model_fields["tabs"].description)
    clipboard: bool = Field(default=True, description=MarkOptions.model_fields["clipboard"].description)
    previous: bool = Field(default=True, description=MarkOptions.model_fields["previous"].description)


@register(PluginKind.OBSERVATION, "waa")
class Waa(MarkedSpace):
    """The screenshot with and without marks, the previous one, titles of windows and pages, the clipboard's text."""

    Params: type[BaseModel] = WaaOptions
    about = (
        "Marked, raw and previous screenshots, titles of windows and pages, and the clipboard: what WAA's agents get."
    )
