"""What Deskarena knows: records, rules and the web. Never imports `worker`."""
