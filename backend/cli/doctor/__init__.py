"""Tests of what this machine can run."""
