"""Getters of pictures made in Paint, one file each."""
