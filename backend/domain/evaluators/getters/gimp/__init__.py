"""Getters of GIMP, one file each."""
