import subprocess
import sys

from tests.waiting import until
from worker.local.session_processes import full_of_files, runnable_threads


class TestRunnableThreads:
    def test_counts_threads_that_compute(self) -> None:
        with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
            until(lambda: runnable_threads(process.pid) == 1, what="it computes")
            process.kill()

    def test_sleeping_process_does_not_count(self) -> None:
        with subprocess.Popen(["sleep", "600"]) as process:
            until(lambda: runnable_threads(process.pid) == 0, what="it sleeps")
            process.kill()


class TestFullOfFiles:
    def test_programs_that_run_in_a_session_do_not_count(self) -> None:
        """These processes have no namespace of their own, and ids beyond a session's."""
        code = "import time\nfiles = []\ntry:\n    while True: files.append(open('/dev/null'))\n"
        with subprocess.Popen([sys.executable, "-c", f"{code}except OSError: time.sleep(600)"]) as process:
            assert full_of_files(process.pid) == 0
            process.kill()
