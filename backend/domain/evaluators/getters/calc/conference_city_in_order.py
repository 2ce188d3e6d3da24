"""`conference_city_in_order`: the third column of a CSV file of the desktop."""

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.evaluators.getters._evidence import ParameterGetter, fetch_file, only, write_blob
from backend.domain.formats.text import read_text
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register

COLUMN = 2


class _Csv(Parameters):
    csv_path: str


@register(PluginKind.GETTER, "conference_city_in_order")
class ConferenceCityInOrder(ParameterGetter):
    """`csv_path`. The value is a list of texts without the header, None if the file does not exist."""

    Params = _Csv

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        return [fetch_file(context, _Csv.parse(parameters).csv_path)]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        text, _ = read_text(write_blob(only(blobs), "table.csv", folder))
        if text is None:
            return None
        try:
            rows = list(csv.reader(text.replace("\0", "").splitlines()))
        except csv.Error:
            return None
        return [row[COLUMN] if len(row) > COLUMN else "" for row in rows[1:] if row]
