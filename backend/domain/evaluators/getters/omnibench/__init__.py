"""Getters of OmniBench, one file each: what its checks look at."""
