"""Getters of Windows' File Explorer and the folders that it shows, one file each."""
