"""Getters of VS Code, one file each."""
