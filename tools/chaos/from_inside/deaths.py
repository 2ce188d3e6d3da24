"""Ways in which a program ends its own desktop, or keeps it from answering, as Python that an agent's action runs."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Death:
    """One way.

    Attributes:
        name: what is done, for the report.
        code: runs in the desktop, as its user.
        system: `linux` or `windows`.
    """

    name: str
    code: str
    system: str = "linux"


def _shell(name: str, command: str, system: str = "linux") -> Death:
    return Death(name, f"import subprocess\nsubprocess.run({command!r}, shell=True)", system)


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
_HOG = "held = []\nwhile True:\n    held.append(bytearray(b'x' * 2**24))"
_EACH = "import os\nfor number in range(2, 5000):\n    if number not in (os.getpid(), os.getppid()):\n        try: {}\n"
_EACH += "        except OSError: pass"
_X = "import ctypes\nx = ctypes.CDLL('libX11.so.6')\nx.XOpenDisplay.restype = ctypes.c_void_p\n"

LINUX = (
    _shell("kill -9 -1", "kill -9 -1"),
    _shell("kill -TERM -1", "kill -TERM -1"),
    _shell("kill -STOP -1", "kill -STOP -1"),
    _shell("kill the guest server", "kill -9 2; pkill -9 -f guest_server"),
    _shell("stop the guest server", "kill -STOP 2; pkill -STOP -f guest_server"),
    _shell("interrupt the guest server", "pkill -INT -f guest_server; pkill -HUP -f guest_server"),
    _shell("kill the X server", "pkill -9 Xvfb"),
    _shell("stop the X server", "pkill -STOP Xvfb"),
    _shell("kill the session bus", "pkill -9 dbus-daemon"),
    _shell("kill the accessibility bus", "pkill -9 -f at-spi"),
    _shell("kill the window manager", "pkill -9 openbox"),
    Death("kill every number, threads too", _EACH.format("os.kill(number, 9)")),
    Death("queue a signal to every process", _EACH.format("os.killpg(number, 9)")),
    _shell("a time limit for every process", "for p in $(seq 2 300); do prlimit --pid $p --cpu=1:1; done"),
    Death("trace the X server", "import ctypes\nctypes.CDLL(None).ptrace(0x4206, 3, 0, 0x100000)"),
    Death("abort the X server's thread", "import ctypes\nctypes.CDLL(None).syscall(234, 3, 3, 6)"),
    _shell("close the session", "openbox --exit"),
    _apart("close the session later", "import subprocess, time\ntime.sleep(2)\nsubprocess.run(['openbox', '--exit'])"),
    _shell("shut the machine down", "shutdown -h now; poweroff -f; halt -f; reboot -f; systemctl poweroff; init 0"),
    Death(
        "close every client of the screen",
        f"{_X}d = ctypes.c_void_p(x.XOpenDisplay(None))\nx.XKillClient(d, 0)\n"
        "for each in range(1, 64):\n    x.XKillClient(d, each * 0x200000 + 1)\nx.XSync(d, 0)",
    ),
    _apart(
        "connect to the screen until it is full", f"{_X}held = [x.XOpenDisplay(None) for _ in range(3000)]\ninput()"
    ),
    Death("truncate the screen's memory", "import os\nos.truncate('/run/user/screen/Xvfb_screen0', 0)"),
    _shell("remove the session's files", "rm -rf /run/user/* /tmp/.X11-unix /tmp/.X*-lock"),
    _shell("remove the home", "rm -rf /home/user/* /home/user/.[a-z]*"),
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
    _apart("fill the memory", _HOG),
    _apart("fill the memory by many processes", f"import os\nfor _ in range(5): os.fork()\n{_HOG}"),
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

WINDOWS = (
    _shell("taskkill of the guest server", "taskkill /f /im python.exe", "windows"),
    _shell("taskkill of the shell", "taskkill /f /im explorer.exe", "windows"),
    _shell("taskkill of the services", "taskkill /f /im services.exe & taskkill /f /im winedevice.exe", "windows"),
    _shell("shut Windows down", "shutdown /s /t 0 & wineboot -s", "windows"),
    _shell("end the session", "wineboot -e -f", "windows"),
    _shell("kill all of Wine", "wineboot -k", "windows"),
    Death(
        "end every process",
        "import ctypes\nk = ctypes.windll.kernel32\nfor number in range(4, 2000, 4):\n"
        "    h = k.OpenProcess(1, 0, number)\n    if h: k.TerminateProcess(h, 1)",
        "windows",
    ),
    Death(
        "end every other process",
        "import ctypes, os\nk = ctypes.windll.kernel32\nfor number in range(4, 2000, 4):\n"
        "    h = k.OpenProcess(1, 0, number) if number != os.getpid() else 0\n"
        "    if h: k.TerminateProcess(h, 1)",
        "windows",
    ),
    Death(
        "suspend every thread",
        "import ctypes\nk = ctypes.windll.kernel32\nfor number in range(4, 3000, 4):\n"
        "    h = k.OpenThread(2, 0, number) if number != k.GetCurrentThreadId() else 0\n"
        "    if h: k.SuspendThread(h)",
        "windows",
    ),
    Death(
        "fill the memory",
        f"import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', {_HOG!r}], creationflags=8)",
        "windows",
    ),
    Death(
        "fork without end",
        "import subprocess, sys\ncode = 'import subprocess, sys\\nwhile True:\\n"
        '    subprocess.Popen([sys.executable, "-c", sys.argv[1], sys.argv[1]])\'\n'
        "subprocess.Popen([sys.executable, '-c', code, code], creationflags=8)",
        "windows",
    ),
    Death(
        "fill the disk",
        "try:\n    with open('C:/full', 'wb') as file:\n"
        "        while True: file.write(b'x' * 2**22)\nexcept OSError: pass",
        "windows",
    ),
    _shell("remove the prefix", "del /f /s /q C:\\windows\\system32 & del /f /s /q C:\\users", "windows"),
)
DEATHS = (*LINUX, *WINDOWS)
