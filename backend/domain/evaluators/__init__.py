"""How an end state becomes a score: getters fetch it, metrics judge it, `evaluate` joins their values."""
