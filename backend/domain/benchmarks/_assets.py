"""Files of the web that a task needs. They are downloaded once and stored; desktops never download them."""

from collections.abc import Iterator, Mapping, Sequence

from backend.domain.model.task import JSON, SetupStep, Task

_SCHEMES = ("http://", "https://")


def external_assets(task: Task) -> tuple[str, ...]:
    """The distinct http(s) addresses of files that a task's set-up, post-configuration and evaluation need, in order.

    These are what `download` steps put into the desktop, what `googledrive` steps upload, and what `cloud_file`
    getters compare with. Pages that an agent or a getter opens live (`chrome_open_tabs`, `pdf_from_url`, ...) are not
    assets: they are fetched when the episode runs.
    """
    addresses = [*_of_steps(task.setup), *_of_steps(task.evaluator.postconfig)]
    for call in task.evaluator.all_calls:
        for spec in (call.result, call.expected):
            if spec is not None and spec.get("type") == "cloud_file":
                addresses += _strings(spec.get("path"))
    return tuple(dict.fromkeys(url for url in addresses if url.startswith(_SCHEMES)))


def _of_steps(steps: Sequence[SetupStep]) -> Iterator[str]:
    for step in steps:
        key = {"download": "files", "googledrive": "args"}.get(step.type)
        entries = step.parameters.get(key) if key else None
        for entry in entries if isinstance(entries, list | tuple) else ():
            if isinstance(entry, Mapping):
                yield from _strings(entry.get("url"))


def _strings(value: JSON) -> list[str]:
    """A text, or the texts of a list; anything else is left to the lint."""
    values = value if isinstance(value, list | tuple) else [value]
    return [text for text in values if isinstance(text, str)]
