"""The sandbox of a local desktop: what it may see, what it may use up, and how it is entered.

Standard library only: the keeper process imports this package and stays small.
"""
