"""Action spaces, one file each: a model's reply -> typed Actions."""
