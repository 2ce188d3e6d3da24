"""Builds Linux images from Debian packages; `vm_images/linux` holds what is put into them besides."""
