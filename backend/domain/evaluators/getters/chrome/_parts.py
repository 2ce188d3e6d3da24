"""Extracts parts of a page for `active_tab_html_parse`: a script that runs in the page, and its results."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from pydantic import Field

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.getters._live import LiveTabParams

OTHER = "is_other_exist"
SCRIPT = """query => {
  const MOST = 1000, LONGEST = 20000;
  const cut = text => String(text === null || text === undefined ? '' : text).slice(0, LONGEST);
  const all = (root, selector) => {
    let found = [...root.querySelectorAll(selector)];
    for (const each of root.querySelectorAll('*'))
      if (each.shadowRoot) found = found.concat(all(each.shadowRoot, selector));
    return found;
  };
  const of = (selectors, take) => {
    const found = {};
    for (const selector of selectors || []) {
      try { found[selector] = all(document, selector).slice(0, MOST).map(take).filter(each => each !== null); }
      catch (error) { found[selector] = []; }
    }
    return found;
  };
  const first = (paths, take) => {
    const found = {};
    for (const path of paths || []) {
      found[path] = null;
      try {
        const node = document.evaluate(path, document, null, XPathResult.FIRST_ORDERED_NODE_TYPE, null).singleNodeValue;
        if (node) found[path] = take(node);
      } catch (error) { found[path] = null; }
    }
    return found;
  };
  const labelled = label => {
    const wanted = label.toLowerCase().replace(/\\s+/g, ' ').trim();
    const says = each => each.textContent.toLowerCase().replace(/\\s+/g, ' ').includes(wanted);
    const bodies = all(document, 'body *').filter(each => !each.matches('script, style, noscript') && says(each));
    const inner = bodies.find(each => ![...each.children].some(says));
    return inner ? cut(inner.textContent) : null;
  };
  const labels = {};
  for (const label of query.labels || []) labels[label] = labelled(label);
  return {
    texts: of(query.texts, each => cut(each.textContent)),
    own: of(query.own, each => [...each.childNodes].filter(node => node.nodeType === Node.TEXT_NODE)
      .map(node => cut(node.textContent).trim()).filter(Boolean)),
    heads: of(query.heads, each => { const h = each.querySelector('h3'); return h ? cut(h.textContent) : null; }),
    items: of((query.items || []).map(each => each + ' li.catAllProducts'),
      each => { const span = each.querySelector('span'); return span ? cut(span.innerText) : null; }),
    labels,
    xpaths: first(query.xpaths, node => cut(node.textContent)),
    inputs: first(query.inputs, node => cut(node.value)),
  };
}"""
"""Searches open shadow roots as well. Texts are returned verbatim; the reader strips white space."""

Named = Mapping[str, str]


class PageParts(LiveTabParams):
    """Parameters of `active_tab_html_parse`. Which of the objects count depends on the category."""

    category: Literal["class", "label", "xpath", "input", "class&url"]
    labelObject: Named = Field(default_factory=dict)  # noqa: N815 - as task files write it, like all below
    class_singleObject: Named = Field(default_factory=dict)  # noqa: N815
    class_multiObject: Mapping[str, Named | tuple[str, ...]] = Field(default_factory=dict)  # noqa: N815
    class_multiObject_child: Mapping[str, Named] = Field(default_factory=dict)  # noqa: N815
    class_multiObject_only_child: Mapping[str, Named] = Field(default_factory=dict)  # noqa: N815
    class_multiObject_search_exist: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)  # noqa: N815
    class_multiObject_li: Mapping[str, tuple[str, ...]] = Field(default_factory=dict)  # noqa: N815
    xpathObject: Named = Field(default_factory=dict)  # noqa: N815
    inputObject: Named = Field(default_factory=dict)  # noqa: N815
    url_include_expected: tuple[str, ...] = ()
    url_include_expected_multichoice: Named = Field(default_factory=dict)


def query(params: PageParts) -> dict[str, list[str]]:
    """The script's query."""
    plain = (params.class_multiObject, params.class_multiObject_search_exist, params.class_singleObject)
    return {
        "texts": [f".{name}" for names in plain for name in names],
        "own": [f".{name}" for name in params.class_multiObject_child],
        "heads": [f".{name}" for name in params.class_multiObject_only_child],
        "items": [f".{name}" for name in params.class_multiObject_li],
        "labels": list(params.labelObject),
        "xpaths": list(params.xpathObject),
        "inputs": list(params.inputObject),
    }


def parts(params: PageParts, page: Mapping[str, Any], url: str) -> dict[str, Any]:
    """The parts that the task names; a missing part is an empty text.

    Raises:
        EvaluatorFailed: the result does not come from the script.
    """
    try:
        if params.category == "class":
            return dict(_of_classes(params, page))
        if params.category == "class&url":
            return _of_filters(params, page, url.lower())
        kind = {"label": "labels", "xpath": "xpaths", "input": "inputs"}[params.category]
        names = {"labels": params.labelObject, "xpaths": params.xpathObject, "inputs": params.inputObject}[kind]
        return {key: (page[kind][name] or "").strip() for name, key in names.items()}
    except (KeyError, TypeError, AttributeError) as error:
        raise EvaluatorFailed(f"the evidence of the page is damaged: {error!r}", code="evidence_damaged") from error


def _of_classes(params: PageParts, page: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for name, names in params.class_multiObject.items():
        yield from _by_place(_texts(page["texts"], name), names if isinstance(names, Mapping) else {})
    for name, places in params.class_multiObject_child.items():
        nodes = page["own"][f".{name}"]
        yield from _by_place(nodes[0] if nodes else [], places)
    for name, places in params.class_multiObject_only_child.items():
        yield from _by_place(_texts(page["heads"], name), places)
    for name, expected in params.class_multiObject_search_exist.items():
        texts = _texts(page["texts"], name)
        yield from ((key, key in texts) for key in expected if key != OTHER)
        if OTHER in expected:
            yield OTHER, any(text not in expected for text in texts)
    for name, key in params.class_singleObject.items():
        yield from _by_place(_texts(page["texts"], name), {"0": key})


def _texts(page: Mapping[str, Any], name: str) -> list[str]:
    return [str(text).strip() for text in page[f".{name}"]]


def _by_place(texts: Sequence[str], places: Named) -> Iterator[tuple[str, str]]:
    for position, key in places.items():
        number = int(position)
        yield key, texts[number] if -len(texts) <= number < len(texts) else ""


def _of_filters(params: PageParts, page: Mapping[str, Any], url: str) -> dict[str, Any]:
    """Filters of a shop: as words on the page, or in the address."""
    result: dict[str, Any] = {}
    groups = [(_texts(page["texts"], name), tuple(names)) for name, names in params.class_multiObject.items()]
    for name, names in params.class_multiObject_li.items():
        spans = page["items"][f".{name} li.catAllProducts"]
        groups.append(([str(text).strip() for text in spans], names))
    for texts, names in groups:
        folded = {text.lower() for text in texts}
        result |= {name.lower(): True for name in names if name.lower() in folded}
        if any(all(text not in name.lower() for name in names) for text in folded):
            result[OTHER] = True
        result.setdefault(OTHER, False)
    choices = [
        *((name, name) for name in params.url_include_expected),
        *params.url_include_expected_multichoice.items(),
    ]
    for part, name in choices:
        result.setdefault(name.lower(), part.lower() in url)
    return result
