"""Evaluation in two halves: the worker gathers evidence, an unprivileged child computes the verdict."""
