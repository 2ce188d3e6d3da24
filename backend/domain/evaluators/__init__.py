"""Turns an end state into a score: getters collect evidence, metrics judge it, `evaluate` combines their values."""
