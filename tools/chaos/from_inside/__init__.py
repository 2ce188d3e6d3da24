"""Deaths of desktops that an agent causes itself: none may become a lost attempt, nor buy another one."""
