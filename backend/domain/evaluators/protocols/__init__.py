"""Scoring protocols, one file each: how a benchmark makes score and measures of calls and parts."""
