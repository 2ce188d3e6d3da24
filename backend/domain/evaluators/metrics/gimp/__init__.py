"""Metrics of pictures and of GIMP's settings, one file each."""
