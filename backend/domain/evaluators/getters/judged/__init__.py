"""Getters that ask somebody for a judgement, one file each."""
