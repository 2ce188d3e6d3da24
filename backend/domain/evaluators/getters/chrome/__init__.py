"""Getters of Chrome: its profile on disk, its pages through DevTools, one file each."""
