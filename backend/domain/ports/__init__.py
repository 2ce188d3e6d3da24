"""Ports: Protocols of everything outside the core. A port's docstring is the specification."""
