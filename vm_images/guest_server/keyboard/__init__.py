"""The session's keyboard for programs of the desktop: pyautogui types through it."""
