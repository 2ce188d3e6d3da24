"""Machines: images, slots, nodes, health, and where a desktop may connect to."""
