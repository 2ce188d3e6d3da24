"""The guest server: runs inside a desktop and carries out what the service asks for over HTTP.

It runs on the desktop's own Python with Debian packages only and imports nothing of the service. The core is the
same on every platform; `linux` and `windows` hold what is particular to each.
"""

API_VERSION = "1.1"
