"""Machine images and hardware virtualisation of this machine."""
