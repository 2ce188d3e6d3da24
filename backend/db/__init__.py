"""Records: tables, sessions and every query. Knows the domain and nothing above itself."""
