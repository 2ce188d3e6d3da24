"""The HTML pages. A page has no query: services give it view objects, templates show them."""
