"""Clients of model APIs, one module per API; each implements the ModelClient port."""
