"""Queries of addresses: read from a request, and written into links."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from starlette.datastructures import QueryParams

Query = Mapping[str, str | list[str]]


def query_of(params: QueryParams) -> dict[str, str | list[str]]:
    """The query of an address: a value by name, several as a list."""
    values = {name: params.getlist(name) for name in params}
    return {name: texts[0] if len(texts) == 1 else texts for name, texts in values.items()}


def with_query(path: str, query: Mapping[str, Any], **changes: Any) -> str:
    """`path` with the query's non-empty values, a list's one by one; `changes` replace, None removes."""
    merged = {**query, **changes}
    text = urlencode({key: value for key, value in merged.items() if value not in (None, "", [])}, doseq=True)
    return f"{path}?{text}" if text else path
