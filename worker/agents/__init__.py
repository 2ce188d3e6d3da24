"""External agents and the channels to them."""
