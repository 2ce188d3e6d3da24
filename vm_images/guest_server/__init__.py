"""The guest server: runs inside a desktop and carries out what the service asks for over HTTP.

It runs on the desktop's own Python with Debian packages only and imports nothing of the service. The core is the
same on every platform; files that end in `_linux` hold what is particular to Linux and X11.
"""

API_VERSION = "1.1"
