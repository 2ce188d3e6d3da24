"""Getters of presentations, one file each."""
