"""Scoring protocols, one file each: score and measures of a benchmark from calls and parts."""
