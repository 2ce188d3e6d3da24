"""Deaths of desktops with Windows programs."""

from tools.chaos.from_inside.death import MEMORY, Death, shell

_FILL = """
import os
try:
    with open({}, 'wb') as file:
        while True: file.write(b'x' * 2**22)
except OSError: pass
"""
_OPEN = """
import ctypes, os
from ctypes import c_void_p, byref
k = ctypes.windll.kernel32
def others(access=0x1F0FFF, itself=False):
    for number in range(4, 3000, 4):
        h = k.OpenProcess(access, 0, number) if itself or number != os.getpid() else 0
        if h:
            yield number, h
"""
_FUNCTION = """
k.GetModuleHandleW.restype = k.GetProcAddress.restype = c_void_p
def function(library, name):
    return c_void_p(k.GetProcAddress(c_void_p(k.GetModuleHandleW(library)), name))
"""
_USER = "import ctypes, time\nfrom ctypes import c_void_p\nu = ctypes.windll.user32\n"
_LINUX = """
import ctypes
k = ctypes.windll.kernel32
k.VirtualAlloc.restype = ctypes.c_void_p
code = bytes.fromhex('57564889c84889d74c89c64c89ca0f055e5fc3')
place = k.VirtualAlloc(None, len(code), 0x3000, 0x40)
ctypes.memmove(place, code, len(code))
call = ctypes.CFUNCTYPE(ctypes.c_longlong, *[ctypes.c_longlong] * 4)(place)
"""
"""`call` is a system call of Linux, past Wine: number and three arguments."""


def _apart(name: str, code: str) -> Death:
    """In a process of its own, which outlives the action."""
    return Death(
        name, f"import subprocess, sys\nsubprocess.Popen([sys.executable, '-c', {code!r}], creationflags=8)", "windows"
    )


WINDOWS = (
    shell("taskkill of the guest server", "taskkill /f /im python.exe", "windows"),
    shell("taskkill of the shell", "taskkill /f /im explorer.exe", "windows"),
    shell("taskkill of the services", "taskkill /f /im services.exe & taskkill /f /im winedevice.exe", "windows"),
    shell("shut Windows down", "shutdown /s /t 0 & wineboot -s", "windows"),
    shell("end the session", "wineboot -e -f", "windows"),
    shell("kill all of Wine", "wineboot -k", "windows"),
    Death("end every process", _OPEN + "for _, h in others(1, itself=True): k.TerminateProcess(h, 1)", "windows"),
    Death("end every other process", _OPEN + "for _, h in others(1): k.TerminateProcess(h, 1)", "windows"),
    Death("suspend every process", _OPEN + "for _, h in others(): ctypes.windll.ntdll.NtSuspendProcess(h)", "windows"),
    Death(
        "suspend every thread",
        "import ctypes\nk = ctypes.windll.kernel32\nfor number in range(4, 3000, 4):\n"
        "    h = k.OpenThread(2, 0, number) if number != k.GetCurrentThreadId() else 0\n"
        "    if h: k.SuspendThread(h)",
        "windows",
    ),
    _apart("fill the memory", MEMORY),
    Death(
        "fork without end",
        "import subprocess, sys\ncode = 'import subprocess, sys\\nwhile True:\\n"
        '    subprocess.Popen([sys.executable, "-c", sys.argv[1], sys.argv[1]])\'\n'
        "subprocess.Popen([sys.executable, '-c', code, code], creationflags=8)",
        "windows",
    ),
    Death("fill the disk", _FILL.format("'C:/full'"), "windows"),
    Death("fill the temporary files", _FILL.format("os.environ['TEMP'] + '/full'"), "windows"),
    shell("remove the prefix", "del /f /s /q C:\\windows\\system32 & del /f /s /q C:\\users", "windows"),
    shell(
        "remove the registry",
        "reg delete HKCU /f & reg delete HKLM\\Software /f & reg delete HKLM\\System /f",
        "windows",
    ),
    shell("log off", "shutdown /l & logoff", "windows"),
    Death(
        "shut the system down by its own call",
        "import ctypes\nn = ctypes.windll.ntdll\n"
        "n.NtRaiseHardError(0xC0000420, 0, 0, None, 6, ctypes.byref(ctypes.c_ulong()))\n"
        "ctypes.windll.user32.ExitWindowsEx(0x14, 0)\nn.NtShutdownSystem(2)",
        "windows",
    ),
    _apart(
        "debug every process",
        _OPEN + "import time\nfor number, _ in others(1): k.DebugActiveProcess(number)\ntime.sleep(600)",
    ),
    Death(
        "exit in every process by a new thread",
        _OPEN + _FUNCTION + "leave = function('kernel32', b'ExitProcess')\n"
        "for _, h in others(): k.CreateRemoteThread(h, None, None, leave, None, 0, None)",
        "windows",
    ),
    Death(
        "close the handles of every process",
        _OPEN + "for _, h in others():\n    for value in range(4, 1200, 4):\n"
        "        k.DuplicateHandle(h, c_void_p(value), c_void_p(-1), byref(c_void_p()), 0, 0, 1)",
        "windows",
    ),
    Death(
        "overwrite the code of every process",
        _OPEN
        + _FUNCTION
        + "for _, h in others():\n    for name in (b'NtClose', b'NtWaitForSingleObject', b'NtReadFile'):\n"
        "        place = function('ntdll', name)\n"
        "        k.VirtualProtectEx(h, place, c_void_p(16), 0x40, byref(ctypes.c_ulong()))\n"
        "        k.WriteProcessMemory(h, place, b'\\xcc' * 16, c_void_p(16), None)",
        "windows",
    ),
    Death(
        "end every process by a job",
        _OPEN + "job = k.CreateJobObjectW(None, None)\n"
        "for _, h in others(): k.AssignProcessToJobObject(job, h)\nk.TerminateJobObject(job, 1)",
        "windows",
    ),
    Death(
        "ask every thread to quit",
        _USER + "for number in range(4, 3000, 4): u.PostThreadMessageW(number, 0x12, 0, 0)",
        "windows",
    ),
    Death(
        "close every window",
        _USER + "\n@ctypes.WINFUNCTYPE(ctypes.c_int, c_void_p, c_void_p)\ndef close(window, _):\n"
        "    for message in (0x11, 0x16, 0x10, 0x02): u.PostMessageW(c_void_p(window), message, 1, 0)\n    return 1\n"
        "u.EnumWindows(close, 0)\nfor message in (0x10, 0x02): u.PostMessageW(u.GetDesktopWindow(), message, 0, 0)",
        "windows",
    ),
    _apart("block the input", _USER + "u.BlockInput(1)\ntime.sleep(600)"),
    _apart(
        "a hook that never returns",
        _USER + "from ctypes import wintypes\n"
        "hook = ctypes.WINFUNCTYPE(c_void_p, ctypes.c_int, c_void_p, c_void_p)(lambda *_: time.sleep(600))\n"
        "for kind in (13, 14): u.SetWindowsHookExW(kind, hook, None, 0)\n"
        "u.GetMessageW(ctypes.byref(wintypes.MSG()), None, 0, 0)",
    ),
    _apart("hold the clipboard", _USER + "u.OpenClipboard(None)\nu.EmptyClipboard()\ntime.sleep(600)"),
    _apart(
        "switch to another desktop",
        _USER
        + "u.CreateDesktopW.restype = c_void_p\nother = u.CreateDesktopW('other', None, None, 0, 0x10000000, None)\n"
        "u.SwitchDesktop(c_void_p(other))\ntime.sleep(600)",
    ),
    _apart(
        "start threads without end",
        "import threading, time\nwhile True:\n"
        "    try: threading.Thread(target=time.sleep, args=(600,)).start()\n    except RuntimeError: pass",
    ),
    _apart(
        "use up the handles",
        "import ctypes, time\nwhile ctypes.windll.kernel32.CreateEventW(None, 0, 0, None): pass\ntime.sleep(600)",
    ),
    _apart(
        "use up the files",
        "import time\nfiles = []\ntry:\n    while True: files.append(open('C:/windows/win.ini'))\n"
        "except OSError: time.sleep(600)",
    ),
    _apart(
        "use up the windows",
        _USER
        + "while u.CreateWindowExW(0, 'STATIC', 'x', 0, 0, 0, 9, 9, None, None, None, None): pass\ntime.sleep(600)",
    ),
    Death(
        "kill by the system calls of Linux",
        _LINUX + "for number in (-1, *range(1, 300)):\n    for signal in (9, 19, 15): call(62, number, signal, 0)",
        "windows",
    ),
    Death(
        "quit by the system calls of Linux",
        _LINUX + "for number in range(1, 300): call(234, number, number, 3)",
        "windows",
    ),
)
