"""Getters of Windows' File Explorer and its folders, one file each."""
