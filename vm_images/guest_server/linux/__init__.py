"""What is particular to Linux and X11."""
