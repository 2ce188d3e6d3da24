"""Files of /etc that are generated for each desktop."""

import uuid

from worker.local.layout import CHROME

_STATIC = {
    "passwd": (
        "root:x:0:0:root:/root:/usr/sbin/nologin\n"
        "user:x:1000:1000:User:/home/user:/bin/bash\n"
        "nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin\n"
    ),
    "group": "root:x:0:\nuser:x:1000:\nnogroup:x:65534:\n",
    "nsswitch.conf": "passwd: files\ngroup: files\nhosts: files\nservices: files\nprotocols: files\n",
    "hostname": "desktop\n",
    "hosts": "127.0.0.1 localhost desktop\n::1 localhost\n",
    "resolv.conf": "# This desktop has no name server.\n",
    "timezone": "Etc/UTC\n",
    # Debian's wrapper reads every file of this folder. The browser's own sandbox needs user namespaces, which a desktop
    # may not create; --test-type suppresses the warning about it. Tasks were written for Google Chrome: they use its
    # profile path, and kill it by its process name. The switch --user-data-dir would set the path, too, but appears in
    # the class of each window.
    "chromium.d/deskarena": (
        'export CHROME_USER_DATA_DIR="$HOME/.config/google-chrome" CHROME_WRAPPER=/usr/bin/chromium\n'
        f"LIBDIR={CHROME} APPNAME=chrome\n"
        'export CHROMIUM_FLAGS="$CHROMIUM_FLAGS --no-sandbox --test-type --no-first-run --no-default-browser-check'
        " --password-store=basic --disable-dev-shm-usage --disable-gpu --disable-pings --disable-breakpad"
        " --disable-component-update --disable-background-networking --disable-sync"
        ' --proxy-server=http://127.0.0.1:18888"\n'
    ),
    "chromium/master_preferences": (
        '{"distribution": {"skip_first_run_ui": true, "suppress_first_run_bubble": true,'
        ' "make_chrome_default": false, "suppress_first_run_default_browser_prompt": true},'
        ' "browser": {"show_home_button": true}, "first_run_tabs": ["about:blank"]}\n'
    ),
}


def generate_files(machine_id: str | None = None) -> dict[str, str]:
    """Name under /etc -> content. Every desktop has its own machine id (32 hexadecimal digits)."""
    return _STATIC | {"machine-id": (machine_id or uuid.uuid4().hex) + "\n"}
