"""Builders of machine images, one package per system; `vm_images/` has their contents."""
