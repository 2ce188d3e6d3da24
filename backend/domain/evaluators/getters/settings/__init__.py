"""Getters of Windows' settings in the registry, one file each."""
