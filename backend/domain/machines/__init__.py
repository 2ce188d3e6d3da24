"""Machines: images, slots, nodes, health, and network access of desktops."""
