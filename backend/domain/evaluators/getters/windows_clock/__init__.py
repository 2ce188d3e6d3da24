"""Getters of Windows' Clock, one file each."""
