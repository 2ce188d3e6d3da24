"""Who gets the next free slot, how many a run may have at once, and why an episode waits: pure rules.

See docs/internals/scheduling.md for the rules with their formulas and sources.
"""
