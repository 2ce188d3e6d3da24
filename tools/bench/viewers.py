"""`make bench-viewers`: our replay beside Inspect's log viewer and MLflow's traces, on the same trajectory.

An episode of 500 steps with pictures of 1280x720 lies in the service. It is exported as Inspect's `.eval` (and read by
`inspect_ai` itself) and logged as a trace of MLflow with a span per step. The three viewers answer on loopback, one after
the other, to the same Chromium. inspect-ai and mlflow are installed from PyPI in an environment of their own. Writes its
page of docs/reports, unless there are fewer than 500 steps.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from playwright.sync_api import Browser, Page

from tests.waiting import until
from tools.bench import replay
from tools.bench.figures import measured_on, percentile
from tools.separate_environment import make_environment

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reports" / "performance-viewers.md"
PACKAGES = ("inspect-ai", "mlflow")
