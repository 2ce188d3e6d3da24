"""A stand-in for the package of the same name."""
