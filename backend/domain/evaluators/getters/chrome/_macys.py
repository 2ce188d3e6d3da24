"""Implementation of `macys_product_url_parse` and its older name `url_path_parse`."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from backend.domain.evaluators.getters._evidence import ParameterGetter
from backend.domain.evaluators.getters._live import LiveTabParams, address, page_evidence
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext

DISCOUNT = "Price_discount_range"
HALF = "50_PERCENT_ off & more"
_LESS = ("30_PERCENT_ off & more", "20_PERCENT_ off & more")
_ABSENT = ("Men_regular_size_t", DISCOUNT)


class _Keys(LiveTabParams):
    parse_keys: tuple[str, ...]


class ProductAddress(ParameterGetter):
    """`parse_keys`. The value maps `mens_clothing`, `shirts`, `short_sleeve` to true or None, and keys to values.

    The address of a product list has its filters as two path segments: names and values, separated by commas. For the
    discount, the value tells whether it is 50 % or more. None if there is no browser.
    """

    Params = _Keys

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:  # noqa: ARG002
        return page_evidence(context)

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        params = _Keys.parse(parameters)
        url = address(blobs, params.goto_prefix)
        return None if url is None else product(url, params.parse_keys)


def product(url: str, keys: Sequence[str]) -> dict[str, Any]:
    """The filters in the address of a product list."""
    try:
        path = unquote(urlsplit(url).path)
    except ValueError:
        path = ""
    filters = dict(_filters(path.strip("/").split("/")))
    department = filters.get("Product_department") in {"shirts", "Shirts", "Shirt"}
    sleeve = filters.get("Sleeve_length") in {"short-sleeve", "Short Sleeve"}
    result: dict[str, Any] = {
        "mens_clothing": "mens-clothing" in path or None,
        "shirts": "shirts" in path or department or None,
        "short_sleeve": "short-sleeve" in path or sleeve or None,
    }
    known: Mapping[str, str | None] = dict.fromkeys(_ABSENT) | {key: value or None for key, value in filters.items()}
    for key in keys:
        if key == DISCOUNT:
            result[key] = _discount(known[key])
        elif key in known:
            result[key] = known[key]
    return result


def _filters(parts: Sequence[str]) -> Iterator[tuple[str, str]]:
    for names, values in pairwise(parts):
        if "," in names and "," in values:
            for name, value in zip(names.split(","), values.split(","), strict=False):
                yield name.strip(), value.strip()
            return


def _discount(value: str | None) -> str:
    choices = [item.strip() for item in (value or "").split("|")]
    return HALF if HALF in choices and not any(less in choices for less in _LESS) else f"not_{HALF}"
