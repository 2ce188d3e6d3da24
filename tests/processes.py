"""What has become of a process that a test watches."""

import psutil


def has_ended(process: psutil.Process) -> bool:
    """True once it is gone or a zombie, also when it goes between two questions to the kernel."""
    try:
        return not process.is_running() or process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True
