"""The browser of a desktop, controlled through DevTools over the guest API's `/tunnel`."""
