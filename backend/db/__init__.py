"""Records: tables, sessions and all queries. Depends on the domain only."""
