"""`make bench-rolling`: replaces every process of the service under load and writes its page below docs/reports/."""

import argparse
import os
import sys
import tempfile
from datetime import UTC, datetime
from pathlib import Path

from tools.bench.figures import machine, percentile
from tools.rolling_restart.load import COME_BACK_SECONDS
from tools.rolling_restart.roll import RollReport, roll
from tools.rolling_restart.site import DRAIN_SECONDS, GRACE_SECONDS, Site

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reports" / "performance-rolling.md"
HEAD = f"""# Rolling restarts

Measured by `make bench-rolling`, which writes this page: two API processes behind nginx with the configuration of
[deploy/proxy](../../deploy/proxy/nginx.conf), two workers with local desktops, a run in progress, and clients that
never retry. The clients read the API and pages, submit with a key, write without one, wait for long answers and
listen to the run's events by websocket. Each API process is ended by SIGTERM and started again. Each worker is
replaced by a new one, which starts first, as in a rolling update. The API drains for {DRAIN_SECONDS:g} s. Attempts of
a worker may go on for {GRACE_SECONDS:g} s, so that some end and others are handed back. A short version is part of
`make test` (`tests/integration/tools/rolling_restart`).

A request counts as failed with any answer but 2xx and with any broken connection; a websocket that is closed otherwise
than with 1001 or 1012, too. The listener comes back after {COME_BACK_SECONDS:g} s, as our pages do, and names the last
event that it has.

"""


def main() -> int:
    """Runs everything; the exit code is 0 if nothing failed and nothing was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--repeats", type=int, default=40, help="episodes of the run")
    parser.add_argument("--steps", type=int, default=40, help="of each episode")
    parser.add_argument("--quick", action="store_true", help="write nothing")
    options = parser.parse_args()
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="rolling-", ignore_cleanup_errors=True) as folder:
        site = Site(Path(folder), durable=True)
        try:
            report = roll(site, rounds=options.rounds, repeats=options.repeats, steps=options.steps, say=say)
        finally:
            site.close()
    written = HEAD + page(report, load)
    sys.stdout.write(written)
    if not options.quick:
        PAGE.write_text(written)
    return 1 if report.faults else 0


def page(report: RollReport, load: float) -> str:
    tally = report.tally
    kinds = ", ".join(f"{count} {kind}" for kind, count in sorted(tally.counts.items()))
    rows = {
        f"requests ({kinds})": f"{tally.total}",
        "**requests failed** (aim: 0)": f"**{len(tally.failed)}**",
        "restarts of API processes": f"{len(report.api_seconds)}",
        "websockets closed politely and come back": f"{tally.reconnected}",
        "events of the run heard; missed, twice or out of order (aim: 0)": f"{len(tally.events)}; {report.missed}",
        "submissions' runs: made, with as many keys": f"{report.runs}",
        "restarts of workers": f"{len(report.worker_seconds)}",
        "episodes": f"{report.episodes}",
        "**episodes lost; scored twice** (aim: 0)": f"**{report.lost}; {report.double}**",
        "attempts handed back and made again": f"{report.handed_back}",
        "answers, p50, p95 and the slowest": ", ".join(
            f"{seconds * 1000:.0f} ms" for seconds in _spread(tally.seconds)
        ),
        "an API process: from SIGTERM to being used again, p50, slowest": _times(report.api_seconds),
        "a worker: from starting the new one to the old one's end, p50, slowest": _times(report.worker_seconds),
    }
    introduction = (
        f"Machine: {machine()}. Measured {datetime.now(UTC):%Y-%m-%d %H:%M} UTC; the load average when it began was "
        f"{load:.1f}{', work of others on the machine' if load > 1 else ''}. "
        "Answers that wait (4 s) are among the slow ones.\n\n"
    )
    failed = "".join(f"- {line}\n" for line in tally.failed[:20])
    table = "".join(f"| {label} | {value} |\n" for label, value in rows.items())
    return introduction + "| what | value |\n|---|---|\n" + table + (f"\nFailed:\n\n{failed}" if failed else "")


def _spread(values: list[float]) -> tuple[float, float, float]:
    return percentile(values, 0.5), percentile(values, 0.95), max(values)


def _times(values: tuple[float, ...]) -> str:
    return f"{percentile(values, 0.5):.1f} s, {max(values):.1f} s"


def say(message: str) -> None:
    """Prints the progress."""
    sys.stderr.write(f"{datetime.now(UTC):%H:%M:%S} {message}\n")


if __name__ == "__main__":
    sys.exit(main())
