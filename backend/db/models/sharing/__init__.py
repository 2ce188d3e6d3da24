"""Tables: saved views of boards, and public links to them."""
