"""Getters of the desktop itself: its screen, windows, wallpaper, one file each."""
