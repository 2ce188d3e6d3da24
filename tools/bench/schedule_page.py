"""Texts and tables of docs/reports/performance-schedule.md."""

import math
from collections.abc import Mapping, Sequence
from statistics import fmean, stdev

from tools.simulator.durations import NOISE, STEP_BUDGET
from tools.simulator.makespans import Play

HOLD = 1000 / 8
"""Mean seconds of an attempt in its slot, with 1,000 slots always in use."""
HEAD = f"""# Performance of the scheduler

Measured by `make bench-schedule`, which writes this page. Slots, nodes and guests are
[simulated](../internals/simulator.md); PostgreSQL and the services are real, and PostgreSQL waits for the disk as in
use. Two processes stand for the workers of 50 nodes with 20 slots each: they send heartbeats, look for lost attempts
and correct the scheduler's counters. They do not compute the roll-ups of pages, for which workers have processors of
their own. Both processes and PostgreSQL share the machine. The number of waiting episodes is in the table, more than
50,000. Four projects with weights 4, 3, 2 and 1 have three runs each; a fifth has a run of a higher priority.

*Leases a second*: all 1,000 slots are free, the clock runs until each has a lease and an attempt. *Free slot to
lease*: from the commit that ended an attempt to the commit that began the next one, while attempts of 1,000 slots
begin, write and end at the rate in the table. An attempt takes {HOLD:.0f} s in the mean. It writes {STEP_BUDGET}
steps, which is WAA's budget, spread over the time in which its agent acts. *Fair-share error*: the largest
difference, over projects, between the share of slot-seconds that one had and weight / sum of weights, while all have
episodes waiting. *Violations*: an episode of WAA's tasks that did not end once, a slot that two had at a time, a gap
in the events.

"""
_MAKESPAN = """
## Makespan of WindowsAgentArena's 154 tasks on 40 slots

In virtual time, in units of the lower bound, which is the longest task or the whole work divided by the slots; the mean
over {seeds} seeds, with the 95 % interval of that mean (Student's t). An agent plays all tasks, then all again: its
*first* run knows only step budgets and what ends meanwhile, its *second* also how long the first took, and so on.
Four other orders have the same durations:

- *slices*: each slot has its part of the list beforehand, as in WAA.
- *queue*: one queue in the order of the file, as in OSWorld's runner.
- *typical*: the longest first by the typical duration of each task, as if it were known without error.
- *foresight*: the longest first, as if all durations were known.

These are computed without any overhead; the real time that ours costs is above.

The aim is met if a task takes the same time in each run (deviation 0), because the measured past is then exact. If
durations differ from run to run, they cannot be known beforehand. *typical* is the result of the same order with a
perfect past; what exceeds it is the price of a short past.

What is recorded of the lengths, and what is assumed: `tools/simulator/durations.py`. Nobody publishes by how much the
same task differs from run to run: the assumption is a factor of standard deviation {noise}; {others}.

| factor's deviation | run | ours | slices | queue | typical | foresight |
|---|---|---|---|---|---|---|
"""
_POLICIES = ("ours", "slices", "queue", "typical", "foresight")


def makespans(spans: Mapping[float, Sequence[Sequence[Play]]]) -> str:
    """The table of makespans: by noise, then seeds, then runs."""
    seeds = " or ".join(str(number) for number in sorted({len(span) for span in spans.values()}))
    others = "others are in the table, too" if len(spans) > 1 else "no other was played"
    lines = [_MAKESPAN.format(noise=NOISE, seeds=seeds, others=others)]
    for noise, by_seed in spans.items():
        for at, name in enumerate(("first", "second", "third")[: len(by_seed[0])]):
            runs = [runs[at] for runs in by_seed]
            columns = [[getattr(play, policy) for play in runs] for policy in _POLICIES]
            lines.append(f"| {noise:g} | {name} | {' | '.join(map(mean_words, columns))} |\n")
    return "".join(lines)


def mean_words(values: Sequence[float]) -> str:
    """`1.03 (1.01 to 1.05)`: a mean with its interval, where there are several."""
    if len(values) == 1:
        return f"{values[0]:.3f}"
    from scipy.stats import t  # type: ignore[import-untyped]

    half = float(t.ppf(0.975, len(values) - 1)) * stdev(values) / math.sqrt(len(values))
    return f"{fmean(values):.3f} ({fmean(values) - half:.3f} to {fmean(values) + half:.3f})"
