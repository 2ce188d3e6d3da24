"""`pdf_from_url`: a page of the web, printed by the desktop's browser."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.getters._evidence import ParameterGetter, only, write_blob
from backend.domain.evaluators.getters._live import background_page, running
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


class _Print(Parameters):
    path: str
    dest: str


@register(PluginKind.GETTER, "pdf_from_url")
class PdfFromUrl(ParameterGetter):
    """`path`, the page's address; `dest`, the file's name. The value is the file's path.

    It is an expectation. If it is unavailable there is no verdict, where upstream uses an empty file.
    """

    Params = _Print

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        url = _Print.parse(parameters).path
        browser = running(context)
        if browser is None:
            return [Blob(name=url, note="no browser answers")]
        with background_page(browser, url) as tab:
            return [Blob(name=url, data=browser.pdf(tab.id), media_type="application/pdf")]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:
        blob = only(blobs)
        if blob.data is None:
            raise EvaluatorFailed(f"{blob.name} could not be printed: {blob.note}", code="evidence_unreadable")
        return write_blob(blob, _Print.parse(parameters).dest, folder)
