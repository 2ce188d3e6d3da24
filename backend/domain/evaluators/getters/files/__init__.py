"""Getters of files and folders, one file each."""
