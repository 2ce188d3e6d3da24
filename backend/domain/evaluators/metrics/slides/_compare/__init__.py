"""How two presentations are compared, one file per kind of thing."""
