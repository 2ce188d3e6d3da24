"""Getters of the desktop's screen, windows and wallpaper, one file each."""
