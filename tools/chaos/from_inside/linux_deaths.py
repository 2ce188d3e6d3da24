"""Deaths of desktops with Linux programs."""

from tools.chaos.from_inside.death import MEMORY, Death, shell


def _apart(name: str, code: str) -> Death:
    """In a process of its own, which outlives the action."""
    start = f"import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', {code!r}], start_new_session=True)"
    return Death(name, start)


_FILES = """
import os
def fill(folder, size):
    try:
        with open(folder + '/full', 'wb') as file:
            while True:
                file.write(b'x' * size)
                file.flush()
    except OSError:
        pass
"""
_EACH = "import os\nfor number in range(2, 5000):\n    if number not in (os.getpid(), os.getppid()):\n        try: {}\n"
_EACH += "        except OSError: pass"
_X = "import ctypes\nx = ctypes.CDLL('libX11.so.6')\nx.XOpenDisplay.restype = ctypes.c_void_p\n"

LINUX = (
    shell("kill -9 -1", "kill -9 -1"),
    shell("kill -TERM -1", "kill -TERM -1"),
    shell("kill -STOP -1", "kill -STOP -1"),
    shell("kill the guest server", "kill -9 2; pkill -9 -f guest_server"),
    shell("stop the guest server", "kill -STOP 2; pkill -STOP -f guest_server"),
    shell("interrupt the guest server", "pkill -INT -f guest_server; pkill -HUP -f guest_server"),
    shell("kill the X server", "pkill -9 'Xvfb|Xorg'"),
    shell("stop the X server", "pkill -STOP 'Xvfb|Xorg'"),
    shell(
        "stop the session by logind",
        "for s in $(loginctl list-sessions --no-legend | awk '{print $1}'); do loginctl kill-session $s -s STOP; done; "
        "loginctl kill-user user -s STOP",
    ),
    shell("end the session by logind", "loginctl terminate-user user"),
    shell("kill what holds the session", "pkill -9 -f protected_session; pkill -9 systemd; pkill -9 sd-pam"),
    shell("kill the session bus", "pkill -9 dbus-daemon"),
    shell("kill the accessibility bus", "pkill -9 -f at-spi"),
    shell("kill the window manager", "pkill -9 openbox"),
    Death("kill every number, threads too", _EACH.format("os.kill(number, 9)")),
    Death("queue a signal to every process", _EACH.format("os.killpg(number, 9)")),
    shell("a time limit for every process", "for p in $(seq 2 600); do prlimit --pid $p --cpu=1:1; done"),
    Death("trace the X server", "import ctypes\nctypes.CDLL(None).ptrace(0x4206, 3, 0, 0x100000)"),
    Death("abort the X server's thread", "import ctypes\nctypes.CDLL(None).syscall(234, 3, 3, 6)"),
    shell("close the session", "openbox --exit"),
    _apart("close the session later", "import subprocess, time\ntime.sleep(2)\nsubprocess.run(['openbox', '--exit'])"),
    shell("shut the machine down", "shutdown -h now; poweroff -f; halt -f; reboot -f; systemctl poweroff; init 0"),
    Death(
        "close every client of the screen",
        f"{_X}d = ctypes.c_void_p(x.XOpenDisplay(None))\nx.XKillClient(d, 0)\n"
        "for each in range(1, 64):\n    x.XKillClient(d, each * 0x200000 + 1)\nx.XSync(d, 0)",
    ),
    _apart(
        "connect to the screen until it is full", f"{_X}held = [x.XOpenDisplay(None) for _ in range(3000)]\ninput()"
    ),
    Death("truncate the screen's memory", "import os\nos.truncate('/run/user/screen/Xvfb_screen0', 0)"),
    shell("remove the session's files", "rm -rf /run/user/* /tmp/.X11-unix /tmp/.X*-lock"),
    shell("remove the home", "rm -rf /home/user/* /home/user/.[a-z]*"),
    _apart("fork without end", "import os\nwhile True:\n    try: os.fork()\n    except OSError: pass"),
    _apart(
        "reach the limit of processes",
        "import subprocess, time\nwhile True:\n"
        "    try: subprocess.Popen(['sleep', '600'])\n    except OSError: time.sleep(0.01)",
    ),
    _apart(
        "start threads without end",
        "import threading, time\nwhile True:\n"
        "    try: threading.Thread(target=time.sleep, args=(600,)).start()\n    except RuntimeError: pass",
    ),
    _apart("compute in many processes", "import os\nfor _ in range(9): os.fork()\nwhile True: pass"),
    _apart("fill the memory", MEMORY),
    _apart("fill the memory by many processes", f"import os\nfor _ in range(5): os.fork()\n{MEMORY}"),
    _apart(
        "grab the screen for ever",
        f"{_X}d = ctypes.c_void_p(x.XOpenDisplay(None))\nx.XGrabServer(d)\nx.XSync(d, 0)\nimport time\ntime.sleep(900)",
    ),
    _apart(
        "fill the screen's memory with pictures",
        f"{_X}d = ctypes.c_void_p(x.XOpenDisplay(None))\nroot = x.XDefaultRootWindow(d)\n"
        "for _ in range(4000):\n    x.XCreatePixmap(d, root, 30000, 30000, 24)\n    x.XSync(d, 0)\n"
        "import time\ntime.sleep(900)",
    ),
    _apart(
        "fill the guest server with connections",
        "import socket, time\nheld = []\nfor _ in range(4000):\n    for port in (5000, 9222):\n"
        "        try: held.append(socket.create_connection(('127.0.0.1', port), 1))\n        except OSError: pass\n"
        "time.sleep(900)",
    ),
    shell("take every right away", "chmod -R 000 /home/user /tmp /run/user 2>/dev/null; chmod 000 /home/user"),
    shell("set another screen", "xrandr --fb 64x64; xrandr -s 0; xset dpms force off; xset -b"),
    shell("stop the accessibility bus", "pkill -STOP -f at-spi; pkill -STOP dbus-daemon"),
    _apart(
        "a window that closes every other",
        f"{_X}d = ctypes.c_void_p(x.XOpenDisplay(None))\nroot = x.XDefaultRootWindow(d)\n"
        "x.XDestroySubwindows(d, root)\nx.XUnmapWindow(d, root)\nx.XDestroyWindow(d, root)\nx.XSync(d, 0)",
    ),
    Death("fill the disk", f"{_FILES}fill('/home/user', 2**22)"),
    Death("fill the disk to the last byte", f"{_FILES}fill('/home/user', 2**22)\nfill('/home/user/Desktop', 1)"),
    Death(
        "fill the temporary files", f"{_FILES}fill('/tmp', 2**22)\nfill('/dev/shm', 2**22)\nfill('/run/user', 2**20)"
    ),
    Death(
        "use up the files",
        "import os\ntry:\n    for number in range(10**7):\n"
        "        os.close(os.open(f'/home/user/{number}', os.O_CREAT))\nexcept OSError: pass",
    ),
)
