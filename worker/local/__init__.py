"""Sandbox of a local desktop: what it sees, its limits, and how it is entered.

Standard library only: the desktop supervisor imports this package and stays small.
"""
