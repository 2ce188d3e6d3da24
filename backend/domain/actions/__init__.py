"""Action spaces, one file each: what a model writes -> typed Actions."""
