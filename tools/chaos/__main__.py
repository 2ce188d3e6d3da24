"""`make chaos`: breaks the running stack in seeded random order, and checks after each fault that all still holds.

The exit code is 0 if all invariants held. `--write` writes the page of figures.
"""

import argparse
import json
import signal
import sys

from tools.chaos.campaign import LOCAL, CampaignSettings, conduct, kinds
from tools.chaos.clustered import CLUSTER, ClusterStack
from tools.chaos.from_inside import __main__ as from_inside
from tools.chaos.plan import only, plan, read_numbers
from tools.chaos.report import CampaignOutcome, about, table, write
from tools.chaos.stack import ChaosStack

FROM_INSIDE = "--from-inside"
"""Another campaign: agents end their own desktops. Words after it are its own."""


def main() -> int:
    """Returns 0 when every invariant held."""
    if FROM_INSIDE in sys.argv:
        arguments = sys.argv[sys.argv.index(FROM_INSIDE) + 1 :]
        return from_inside.main(arguments)
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--faults", type=int, default=200, help="how many")
    parser.add_argument("--only", default="", help="only the faults of these numbers: 3,17-19")
    parser.add_argument("--kinds", default="", help="only faults of these kinds, by comma; makes another campaign")
    parser.add_argument("--cluster", action="store_true", help="desktops are pods of a fake cluster, which is hit, too")
    parser.add_argument("--stop", action="store_true", help="end at the first violation")
    parser.add_argument("--keep", action="store_true", help="leave the stack's folder there though everything held")
    parser.add_argument("--write", action="store_true", help="write the page of figures below docs")
    parser.add_argument("--list", action="store_true", help="say what would be done, and do nothing")
    options = parser.parse_args()
    flavour, work = (ClusterStack, CLUSTER) if options.cluster else (ChaosStack, LOCAL)
    fault_kinds = options.kinds.split(",") if options.kinds else kinds(flavour.flavour)
    volleys = plan(options.seed, options.faults, fault_kinds)
    if options.only:
        volleys = only(volleys, read_numbers(options.only))
    if options.list:
        lines = [
            json.dumps({"fault": fault.number, "kind": fault.kind, **fault.fault.drawn()})
            for v in volleys
            for fault in v.faults
        ]
        sys.stdout.write("\n".join([*lines, "", about(), ""]))
        return 0
    # Also in the background, where shells ignore interrupts: faults are healed and processes ended first.
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.default_int_handler)
    outcome = CampaignOutcome(options.seed, options.faults, fault_kinds, flavour=flavour.flavour)
    conduct(CampaignSettings(options.seed, options.stop, options.keep, work, flavour), outcome, volleys)
    sys.stdout.write(table(outcome))
    if options.write:
        write(outcome)
    return 0 if outcome.passed else 1


if __name__ == "__main__":
    sys.exit(main())
