"""Getters of judgements, one file each."""
