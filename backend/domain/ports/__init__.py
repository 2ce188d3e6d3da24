"""What the core needs of the world, as Protocols. A port's docstring is the specification."""
