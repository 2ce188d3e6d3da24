"""Observation spaces, one file each: which parts of the desktop an agent sees."""
