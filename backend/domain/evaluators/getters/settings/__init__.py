"""Getters of Windows' settings, which lie in the registry, one file each."""
