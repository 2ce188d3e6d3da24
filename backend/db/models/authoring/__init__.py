"""Tables: own tasks before they count."""
