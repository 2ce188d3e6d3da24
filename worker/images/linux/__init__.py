"""Builder of Linux images from Debian packages; `vm_images/linux` has their further contents."""
