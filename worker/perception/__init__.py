"""Perception: what observation spaces can use besides the desktop."""
