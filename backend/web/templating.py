"""Templates, and the formats of numbers, times and states on pages."""

import hashlib
import json
import logging
import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any

from fastapi import Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, FileSystemBytecodeCache, FileSystemLoader, StrictUndefined, select_autoescape
from jinja2.bccache import Bucket

from backend.addresses import EMBED_PATH, PUBLIC_PATH
from backend.domain.model.episode import EpisodeState
from backend.domain.model.outcome_style import ENDED_LABELS, LABELS, UNRATED, OutcomeStyle, StateStyle, state_style
from backend.domain.scheduling.projects import numbers_text
from backend.services.accounts.principal import NOBODY
from backend.services.benchmarks.views.benchmark import PublishedResultView
from backend.services.read_model import DASH, value_text
from backend.services.runs.action_description import action_words, pointer_path, typed_captions
from backend.services.runs.views.attempt import StepView
from backend.services.runs.views.episode import EpisodeView
from backend.services.runs.views.episode_page import checks_of, phases_of
from backend.services.runs.views.run_page import event_words
from backend.services.runs.views.waiting import group_waits
from backend.web.browser_name import browser_name
from backend.web.conditional_requests import CACHE
from backend.web.lists import listing
from backend.web.query_strings import query_of, with_query
from backend.web.static_files import FRONTEND, modules_of, static_url

logger = logging.getLogger(__name__)
NBSP = "\u00a0"
DESKTOP_KINDS = {"local": "Local desktops", "qemu": "Virtual machines (QEMU)", "k8s": "Kubernetes desktops"}
THEMES = frozenset({"light", "dark"})
_CONTROLLERS = re.compile(r' data-controller="([a-z -]+)"')
_HEAD_END = "</head>"
_MENTION = re.compile(r"#step-(\d{1,5})\b")


def percent(value: float | None, digits: int = 1) -> str:
    """`0.7271` as `72.7 %`; a dash for None."""
    return DASH if value is None else f"{value * 100:.{digits}f}{NBSP}%"


def interval(pair: tuple[float, float] | None, digits: int = 1) -> str:
    """`(0.55, 0.88)` as both ends in percent with a dash between."""
    if pair is None:
        return DASH
    return f"{pair[0] * 100:.{digits}f}{NBSP}{DASH}{NBSP}{pair[1] * 100:.{digits}f}{NBSP}%"


def sentence(text: str) -> str:
    """A reason with a capital first letter."""
    return text[:1].upper() + text[1:]


def thousands(value: float) -> str:
    """An integer with separators: `3,610`."""
    return f"{value:,.0f}"


def usd(value: float) -> str:
    """US dollars: `$12.50`, `$0.017`, `$0.0004`."""
    digits = 2 if value >= 1 or not value else 3 if value >= 0.01 else 4  # noqa: PLR2004 - cents, and their parts
    return f"${value:,.{digits}f}"


def output(value: Any) -> Any:
    """Text of `{{ value }}`: no page shows `None`, `True` or a Python dict."""
    return value_text(value) if value is None or isinstance(value, bool | dict | list | tuple) else value


def options(values: Mapping[str, Any]) -> str:
    """Options that are set: `clipboard, coordinates screen`."""
    return ", ".join(
        name if value is True else f"{name} {value_text(value)}" for name, value in values.items() if value
    )


def counts_text(numbers: Mapping[str, int]) -> str:
    """Numbers by name: `2 local, 1 qemu`."""
    return ", ".join(f"{number} {name}" for name, number in sorted(numbers.items()))


def score(value: float | None) -> str:
    """A score with two digits; a dash for None."""
    return DASH if value is None else f"{value:.2f}"


def duration(seconds: float | None) -> str:
    """Seconds in a readable unit: `0.84 s`, `42 s`, `3 min 05 s`, `2 h 10 min`."""
    if seconds is None:
        return DASH
    if seconds < 10:  # noqa: PLR2004 - below that, tenths matter
        return f"{seconds:.2f}{NBSP}s" if seconds < 1 else f"{seconds:.1f}{NBSP}s"
    minutes, seconds_left = divmod(round(seconds), 60)
    if not minutes:
        return f"{seconds_left}{NBSP}s"
    hours, minutes = divmod(minutes, 60)
    return f"{hours}{NBSP}h {minutes:02d}{NBSP}min" if hours else f"{minutes}{NBSP}min {seconds_left:02d}{NBSP}s"


def size(count: int | None) -> str:
    """Bytes: `12.3 kB`."""
    if count is None:
        return DASH
    value = float(count)
    for unit in ("B", "kB", "MB"):
        if value < 1000:  # noqa: PLR2004 - decimal units
            return f"{value:.0f}{NBSP}{unit}" if unit == "B" else f"{value:.1f}{NBSP}{unit}"
        value /= 1000
    return f"{value:.1f}{NBSP}GB"


def moment(value: datetime | None) -> str:
    """A UTC time as text: `21 Nov 2026, 22:14`."""
    return DASH if value is None else value.astimezone(UTC).strftime(f"%-d{NBSP}%b{NBSP}%Y, %H:%M")


def iso(value: datetime | None) -> str:
    """A time for machines."""
    return "" if value is None else value.astimezone(UTC).isoformat(timespec="milliseconds")


def pretty(value: Any) -> str:
    """JSON for reading."""
    return json.dumps(value, indent=2, ensure_ascii=False, default=str)


def compact(value: Any) -> str:
    """JSON on one line."""
    return json.dumps(value, ensure_ascii=False, default=str)


def style(episode: EpisodeView, *, unrated: bool = False) -> StateStyle:
    """Style and text of an episode's state; `unrated`: its person must rate it first."""
    if unrated:
        return UNRATED
    return state_style(
        episode.state, episode.score, episode.ended_by, episode.failure_class, human_assisted=episode.human_assisted
    )


def reason(episode: EpisodeView) -> str:
    """Why it is waiting, was lost or cannot run."""
    if episode.waiting is not None:
        return episode.waiting.text
    return episode.failure_message if episode.state is EpisodeState.LOST else episode.reason


def screen_size(step: StepView) -> tuple[int, int]:
    """Width and height of a step's picture; default size if unknown."""
    frame = step.frame
    return (frame and frame.width) or 1920, (frame and frame.height) or 1080


def amount(result: PublishedResultView) -> str:
    """A published figure with its unit, with as many digits as printed."""
    units = {"percent": " %", "percentage points": " points"}
    return f"{result.value:g}{units.get(result.unit, f' {result.unit}' if result.unit else '')}"


def step_mentions(text: str) -> list[tuple[str, int | None]]:
    """A person's text in pieces: `#step-12` is (`#step-12`, 12), all else (text, None)."""
    pieces: list[tuple[str, int | None]] = []
    at = 0
    for mention in _MENTION.finditer(text):
        pieces += [(text[at : mention.start()], None), (mention[0], int(mention[1]))]
        at = mention.end()
    return [piece for piece in (*pieces, (text[at:], None)) if piece[0]]


FILTERS = {
    "amount": amount,
    "action_words": action_words,
    "browser_name": browser_name,
    "checks_of": checks_of,
    "ended_words": lambda ended_by: ENDED_LABELS.get(ended_by or "", ""),
    "event_words": event_words,
    "phases_of": phases_of,
    "pointer_path": pointer_path,
    "reason": reason,
    "screen_size": screen_size,
    "typed": typed_captions,
    "step_mentions": step_mentions,
    "style": style,
    "numbers": numbers_text,
    "percent": percent,
    "interval": interval,
    "grouped_waits": group_waits,
    "score": score,
    "sentence": sentence,
    "thousands": thousands,
    "usd": usd,
    "plain": value_text,
    "counts_text": counts_text,
    "options": options,
    "duration": duration,
    "size": size,
    "moment": moment,
    "iso": iso,
    "listing": listing,
    "pretty": pretty,
    "compact": compact,
}


class CompiledTemplates(FileSystemBytecodeCache):
    """Templates as earlier processes of this user compiled them, which takes a second for all.

    Jinja checks that the folder is the user's own, and each file against its template's source.
    """

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keeps a template; without its folder, which a cleaner may have removed, nothing is kept."""
        with suppress(OSError):
            super().dump_bytecode(bucket)


def compiled_templates() -> CompiledTemplates | None:
    """None if the folder cannot be made or is not the user's own."""
    # Not in a template's checksum: how this module has templates compiled.
    options = hashlib.sha256(Path(__file__).read_bytes()).hexdigest()[:12]
    try:
        return CompiledTemplates(pattern=f"deskarena-{options}-%s.cache")
    except (OSError, RuntimeError) as error:
        logger.info("compiled templates are not cached: %s", error)
        return None


@lru_cache(maxsize=1)
def environment() -> Environment:
    """The one template environment. Everything is escaped; an unknown name raises."""
    environment = Environment(
        loader=FileSystemLoader(FRONTEND / "templates"),
        autoescape=select_autoescape(default=True, default_for_string=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        finalize=output,
        bytecode_cache=compiled_templates(),
    )
    environment.filters.update(FILTERS)
    environment.globals.update(
        static=static_url,
        with_query=with_query,
        outcome_words=LABELS,
        Outcome=OutcomeStyle,
        desktop_kinds=DESKTOP_KINDS,
    )
    return environment


def render(
    request: Request, template: str, values: Mapping[str, Any], *, status: int = 200, once: bool = False
) -> HTMLResponse:
    """Renders a page, which browsers ask for again at each visit.

    `once`: it belongs to this request only, because a form on it has a key of its own (`shared_pages`).
    `public`: the reader has no access to anything else; `embedded`: the page stands in a frame of another site.
    """
    embedded, settings = request.url.path.startswith(EMBED_PATH), request.app.state.edge.settings
    theme = request.query_params.get("theme", "") if embedded else request.cookies.get("theme", "")
    sub_path = request.app.state.edge.sub_path
    text = (
        environment()
        .get_template(template)
        .render(
            values,
            path=request.url.path,
            answered=status if request.method == "POST" else 0,
            query=query_of(request.query_params),
            public=request.url.path.startswith((PUBLIC_PATH, EMBED_PATH)),
            embedded=embedded,
            theme=theme if theme in THEMES else "",
            root=sub_path.root,
            needs_token=settings.token is not None,
            accounts=settings.accounts,
            trace_url=settings.trace_url,
            principal=getattr(request.state, "principal", NOBODY),
            release=request.app.version,
            maintenance="" if embedded else request.app.state.edge.maintenance_reason(),
        )
    )
    headers = {"Cache-Control": CACHE} | ({"Vary": "*"} if once else {})
    return HTMLResponse(sub_path.page(_with_preloads(text)), status_code=status, headers=headers)


def _with_preloads(text: str) -> str:
    """A whole page that names its modules at once; a part of a page stays as it is."""
    controllers = frozenset(name for names in _CONTROLLERS.findall(text) for name in names.split())
    links = [f'<link rel="modulepreload" href="{static_url(module)}">' for module in modules_of(controllers)]
    return text.replace(_HEAD_END, "\n".join([*links, _HEAD_END]), 1)
