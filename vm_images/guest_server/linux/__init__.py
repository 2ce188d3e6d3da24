"""Linux and X11."""
