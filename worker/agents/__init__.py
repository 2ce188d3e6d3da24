"""Agents outside of this process, and the channels to them."""
