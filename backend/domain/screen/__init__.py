"""The screen as agents read it: pictures and accessibility trees."""
