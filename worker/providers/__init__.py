"""One module per provider; each creates desktops and implements the Provider port."""
