"""Library for code on the desktop: `from deskarena_computer import Computer`.

Only this folder is on such code's path, not the package itself.
"""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[3]))

from guest_server.computer import Computer  # noqa: E402 - the path must be there first.

__all__ = ["Computer"]
