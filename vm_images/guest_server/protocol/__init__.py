"""What the guest API takes and gives, and what its routes need of a platform."""
