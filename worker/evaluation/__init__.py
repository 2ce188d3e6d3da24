"""Evaluation in two halves: evidence is gathered in the worker, the verdict is found in a child without rights."""
