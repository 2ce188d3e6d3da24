"""Getters of Microsoft Edge: its profile on disk, one file each."""
