"""Requests by people, done beside the attempts."""
