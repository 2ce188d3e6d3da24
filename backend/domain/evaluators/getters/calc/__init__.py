"""Getters of tables, one file each."""
