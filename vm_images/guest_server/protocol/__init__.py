"""Requests and responses of the guest API, and what its routes need of a platform."""
