"""Assignment of free slots, and reasons why episodes wait."""
