"""Perception tools for observation spaces: the desktop's browser, OCR, and configured element detectors."""
# ruff: noqa: D102 - the port says it.

import base64
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from backend.domain.errors import Invalid, ModelApiFailed, WebFailed
from backend.domain.model.trajectory import Frame
from backend.domain.ports.web import Browser, WebReply
from backend.services.artifacts.egress_policy import EgressPolicy, checked_url
from backend.services.artifacts.ssrf_safe_http import GuardedWeb
from worker.devtools.servers import PUBLISHED, Servers
from worker.perception.ocr import read, trial_picture

DETECTOR_SECONDS = 60.0
MOST_FOUND = 2000
_MOST_BYTES = 48 * 2**20
_MOST_TEXT = 1000
_OK = 200


class Detectors:
    """Configured element detectors, by name. Only the operator can set addresses.

    They implement OmniParser's server interface: POST of `{"base64_image": ...}`, answered by `{"parsed_content_list":
    [...]}`, whose entries have `type`, `bbox` (left, top, right, bottom, 0 to 1), `content` and `interactivity`.

    Raises:
        Invalid: An address is not valid.
    """

    def __init__(self, addresses: Mapping[str, str], *, seconds: float = DETECTOR_SECONDS) -> None:
        hosts = [str(checked_url(address).hostname) for address in addresses.values()]
        # They are mostly in the operator's own network, often on this machine.
        self._web = GuardedWeb(EgressPolicy(private_hosts=tuple(hosts)))
        self._addresses = dict(addresses)
        self._seconds = seconds

    def detect(self, name: str, picture: Frame) -> Sequence[Mapping[str, Any]]:
        address = self._addresses.get(name)
        if address is None:
            names = ", ".join(sorted(self._addresses)) or "none"
            hint = f"Configured in DESKARENA_DETECTORS on the worker: {names}."
            raise ModelApiFailed(f"there is no element detector {name!r}", code="unknown_detector", hint=hint)
        return _elements(name, self._request(name, address, picture))

    def why_not(self, name: str) -> str:
        """Why it does not work with a small picture; empty if its response is valid."""
        try:
            self.detect(name, trial_picture())
        except ModelApiFailed as error:
            return error.message
        return ""

    def _request(self, name: str, address: str, picture: Frame) -> WebReply:
        body = json.dumps({"base64_image": base64.b64encode(picture.data).decode()}).encode()
        headers = {"Content-Type": "application/json", "Accept": "application/json"}
        try:
            reply = self._web.send(
                "POST", address, headers=headers, body=body, max_bytes=_MOST_BYTES, timeout=self._seconds
            )
        except (WebFailed, Invalid) as error:
            raise ModelApiFailed(
                f"element detector {name!r} does not respond: {error.message}", code="detector_failed"
            ) from error
        if reply.status != _OK:
            raise ModelApiFailed(
                f"element detector {name!r} responded with {reply.status}: {reply.body[:200]!r}", code="detector_failed"
            )
        return reply


def _elements(name: str, reply: WebReply) -> list[Mapping[str, Any]]:
    try:
        body = json.loads(reply.body)
        return [_element(entry) for entry in body["parsed_content_list"][:MOST_FOUND]]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise ModelApiFailed(
            f"element detector {name!r} sent an invalid response: {error!r}"[:400], code="detector_failed"
        ) from error


def _element(entry: Any) -> Mapping[str, Any]:
    box = [float(part) for part in entry["bbox"]]
    if len(box) != 4 or not all(map(math.isfinite, box)):  # noqa: PLR2004 - a box has four sides.
        raise ValueError(f"{box} is not a box")
    content = entry.get("content")
    return {
        "type": str(entry.get("type", ""))[:50],
        "bbox": box,
        "content": str(content)[:_MOST_TEXT] if content is not None else "",
        "interactivity": entry.get("interactivity") is True,
    }


class WorkerPerception:
    """PerceptionTools port for one attempt. The port's docstrings are the specification."""

    def __init__(self, servers: Servers, detectors: Detectors) -> None:
        """Args: servers: inside the attempt's desktop; detectors: the worker's."""
        self._servers = servers
        self._detectors = detectors

    def browser(self, port: int = PUBLISHED) -> Browser:
        return self._servers.browser(port)

    def read(self, picture: Frame, language: str = "eng") -> Sequence[Mapping[str, Any]] | None:
        return read(picture, language)

    def detect(self, endpoint: str, picture: Frame) -> Sequence[Mapping[str, Any]]:
        return self._detectors.detect(endpoint, picture)
