"""One file per provider; each makes desktops and implements the Provider port."""
