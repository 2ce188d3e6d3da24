"""Pure rules of scheduling: order of runs, limits of a run, reasons for waiting.

See docs/internals/scheduling.md for the rules with their formulas and sources.
"""
