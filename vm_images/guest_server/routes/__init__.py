"""The routes of the guest API, one file per capability."""
