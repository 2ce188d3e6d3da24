"""The guest server: runs inside a desktop and serves the guest API over HTTP.

It uses the desktop's own Python with Debian packages only and imports nothing of the service. The core is the same on
every platform; `linux` and `windows` have the platform-specific parts.
"""

API_VERSION = "1.1"
