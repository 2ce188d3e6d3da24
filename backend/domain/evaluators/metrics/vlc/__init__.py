"""Metrics of the VLC media player, of pictures, sounds and videos, one file each."""
