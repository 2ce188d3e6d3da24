"""Own tasks before they count."""
