"""The commands, one file per word after `deskarena`."""
