"""The browser of a desktop, and the services that are reached through it."""
