"""How things look as tables."""
