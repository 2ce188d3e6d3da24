"""The agents' own environment: packages from PyPI that neither the service nor its tests have."""

import os
from importlib.metadata import distributions
from pathlib import Path

PACKAGES = (
    # What OSWorld's runners and agents import.
    *("backoff", "boto3", "dashscope", "google-generativeai", "groq", "loguru", "lxml", "numpy", "openai", "pandas"),
    *("pillow", "python-dotenv", "requests", "tiktoken", "tqdm", "wrapt_timeout_decorator"),
    # The agents that PyPI has.
    *("gui-agents", "ui-tars"),
    # What `deskarena` imports.
    "httpx",
)
_SLEEPS = """import time
_sleep = time.sleep
time.sleep = lambda seconds: _sleep(min(seconds, 1.0))
"""
_TIKTOKEN = """class Encoding:
    def encode(self, text, **_):
        return [text[at : at + 4] for at in range(0, len(text), 4)]

    def decode(self, tokens):
        return "".join(tokens)


def encoding_for_model(name):
    return Encoding()


get_encoding = encoding_for_model
"""
"""Counts tokens without the vocabulary that tiktoken fetches from the web."""


def versions(python: Path, names: tuple[str, ...]) -> dict[str, str]:
    """Versions of installed packages."""
    site = next((python.parents[1] / "lib").glob("python3.*/site-packages"))
    return {
        distribution.name: distribution.version
        for distribution in distributions(path=[str(site)])
        if distribution.name in names
    }


def write_path(folder: Path, deskarena: Path) -> str:
    """A folder for PYTHONPATH: `deskarena` alone of this checkout, shorter sleeps, and a counter of tokens."""
    folder.mkdir()
    (folder / "deskarena").symlink_to(deskarena)
    (folder / "sitecustomize.py").write_text(_SLEEPS)
    (folder / "tiktoken.py").write_text(_TIKTOKEN)
    return str(folder)


def agents_environment(server: str, model_url: str, python_path: list[str]) -> dict[str, str]:
    """Variables of an agent's process: where the service and the model are."""
    keys = dict.fromkeys(("OPENAI_API_KEY", "DOUBAO_API_KEY", "OPENAI_API_KEY_CUA"), "fixed")
    urls = dict.fromkeys(("OPENAI_BASE_URL", "DOUBAO_API_URL", "OPENAI_BASE_URL_CUA"), model_url)
    return {
        **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
        **keys,
        **urls,
        # OSWorld's parallel runners import its manager of AWS, which wants these to be set.
        **dict.fromkeys(("AWS_REGION", "AWS_SUBNET_ID", "AWS_SECURITY_GROUP_ID"), "none"),
        "DESKARENA_SERVER": server,
        "PYTHONPATH": os.pathsep.join(python_path),
        "PYTHONWARNINGS": "ignore",
        "no_proxy": "127.0.0.1",
    }
