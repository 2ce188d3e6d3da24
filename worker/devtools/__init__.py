"""The browser of a desktop, spoken to over DevTools through the guest API's `/tunnel`."""
