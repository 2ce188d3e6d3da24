"""Getters of VLC, one file each."""
