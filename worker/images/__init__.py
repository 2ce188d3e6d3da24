"""Machine images that are made here, one package per system; `vm_images/` holds what goes into them."""
