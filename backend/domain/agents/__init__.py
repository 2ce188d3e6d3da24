"""Agents, one file each: a policy from observations to actions."""
