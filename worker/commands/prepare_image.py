"""`python -m worker.commands.prepare_image NAME --screen WxH`: creates the template of an image's desktops.

Started by `deskarena image prepare`. Prints one JSON object when the template exists; progress, with what the screen
shows, goes to stderr. Exits with 3 if it cannot be created.
"""

import argparse
import json
import logging
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from pathlib import Path
from typing import Any

from backend.config import get_settings
from backend.domain import registry
from backend.domain.errors import Conflict, DeskarenaError
from backend.domain.formats.foreign_text import make_logs_visible, visible_streams
from backend.domain.model.run import ScreenSize
from backend.domain.ports.desktop import DesktopSpec, Provider
from backend.domain.ports.templates import TemplateProvider
from backend.domain.registry import PluginKind
from worker.activity import ActivitySource, ProgressLines, Tracker

FAILED = 3
logger = logging.getLogger(__name__)

Show = Callable[[Tracker], AbstractContextManager[object]]


def prepare(providers: Iterable[Provider], spec: DesktopSpec, show: Show = lambda _: nullcontext()) -> dict[str, Any]:
    """Creates an image's template with the first provider that clones templates; returns its facts.

    Args:
        providers: of this installation.
        spec: image and screen.
        show: context manager that prints a tracker's activities.

    Raises:
        Conflict: No provider clones templates here, or it cannot work here.
        ClusterLost, GuestLost: The template cannot be created.
    """
    for provider in providers:
        if not isinstance(provider, TemplateProvider):
            continue
        offer = provider.availability()
        if not offer.ok:
            raise Conflict(f"provider {provider.name} does not work here: {offer.reason}", code="provider_not_runnable")
        logger.info("machines run %s", offer.reason)
        began = time.monotonic()
        tracker = provider.tracker(None) if isinstance(provider, ActivitySource) else None
        with show(tracker or Tracker()):
            provider.template(spec)
        seconds = round(time.monotonic() - began, 1)
        screen = f"{spec.screen.width}x{spec.screen.height}"
        return {"image": spec.image, "screen": screen, "provider": provider.name, "seconds": seconds}
    raise Conflict("no configured provider clones templates", code="provider_not_runnable")


def main(words: Sequence[str] | None = None) -> int:
    """Parses the arguments, prepares and prints the result; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name")
    parser.add_argument("--screen", default="1920x1080")
    arguments = parser.parse_args(words)
    width, _, height = arguments.screen.partition("x")
    make_logs_visible()
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    logging.getLogger("httpx").setLevel(logging.WARNING)
    registry.load("worker.providers")
    settings = get_settings()
    providers = [registry.lookup(PluginKind.PROVIDER, name)(settings) for name in registry.names(PluginKind.PROVIDER)]
    picture = settings.data_dir / "cache" / f"prepare-{Path(arguments.name).name}.png"
    try:
        spec = DesktopSpec(screen=ScreenSize(width=int(width), height=int(height)), image=arguments.name)
        result = prepare(providers, spec, partial(ProgressLines, out=sys.stderr, picture=picture))
        sys.stdout.write(json.dumps(result) + "\n")
    except DeskarenaError as error:
        sys.stderr.write(error.text + "\n")
        return FAILED
    finally:
        for provider in providers:
            provider.close()
    return 0


if __name__ == "__main__":
    with visible_streams():
        sys.exit(main())
