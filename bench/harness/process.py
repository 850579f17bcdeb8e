"""Runs one program under bench_launch: its output, its use of time and memory, and its resident
memory while it ran.
"""

import os
import pathlib
import re
import signal
import subprocess
import threading
from dataclasses import dataclass

SAMPLE_SECONDS = 0.05
PAGE = os.sysconf("SC_PAGE_SIZE")
EXIT_LINE = re.compile(
    r"exit (-?\d+) signal (\d+) utime_us (\d+) stime_us (\d+) maxrss_kb (\d+) wall_ns (\d+)"
)


@dataclass
class Outcome:
    exit_code: int
    signal: int
    stdout: str
    stderr: str
    wall_seconds: float
    cpu_seconds: float
    peak_rss_bytes: int
    sampled_rss_bytes: list
    timed_out: bool

    def failure(self):
        """Why the run does not count, or None."""
        if self.timed_out:
            return f"not finished after {self.wall_seconds:.0f} s"
        if self.signal:
            return f"killed by signal {self.signal} ({signal.Signals(self.signal).name})"
        if self.exit_code:
            words = (self.stderr.strip() or self.stdout.strip()).splitlines()
            return f"exit status {self.exit_code}" + (f": {words[-1][:300]}" if words else "")
        return None


class Sampler(threading.Thread):
    """Reads a process's resident size every 50 ms until told to stop."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.samples = []
        self._statm = pathlib.Path(f"/proc/{pid}/statm")
        self._done = threading.Event()

    def run(self):
        while not self._done.wait(SAMPLE_SECONDS):
            try:
                self.samples.append(int(self._statm.read_text().split()[1]) * PAGE)
            except (OSError, IndexError):
                return

    def stop(self):
        self._done.set()
        self.join()


def run(launcher, command, timeout_s):
    read_end, write_end = os.pipe()
    process = subprocess.Popen(
        [str(launcher), str(write_end), *map(str, command)],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        pass_fds=[write_end],
        start_new_session=True,
    )
    os.close(write_end)
    with os.fdopen(read_end) as report:
        first = report.readline()
        sampler = Sampler(int(first.split()[1])) if first.startswith("pid ") else None
        if sampler:
            sampler.start()
        timed_out = False
        try:
            stdout, stderr = process.communicate(timeout=timeout_s)
        except subprocess.TimeoutExpired:
            timed_out = True
            os.killpg(process.pid, signal.SIGKILL)
            stdout, stderr = process.communicate()
        if sampler:
            sampler.stop()
        last = EXIT_LINE.match(report.readline())
    samples = sampler.samples if sampler else []
    if not last:
        return Outcome(
            -1,
            0,
            stdout,
            stderr or "the launcher did not report",
            float(timeout_s),
            0.0,
            0,
            samples,
            timed_out,
        )
    code, sig, user, system, maxrss, wall = map(int, last.groups())
    return Outcome(
        code,
        sig,
        stdout,
        stderr,
        wall / 1e9,
        (user + system) / 1e6,
        maxrss * 1024,
        samples,
        timed_out,
    )
