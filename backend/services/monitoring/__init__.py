"""What operators ask of an installation: its metrics and its status."""
