"""Getters of OmniBench, one file each: the input of its checks."""
