"""What people asked for, done beside the attempts."""
