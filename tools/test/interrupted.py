#!/usr/bin/env python3
"""interrupted.py PROGRAM PATH: a word_count over several processes that is asked to end, by Ctrl-C
in its terminal or by a signal to it alone, at any moment, clears its folder and its processes
away, and ends by that signal. If it is killed, its processes end by themselves.

Exit status 1: something was left; it is named.
"""

import ctypes
import os
import signal
import subprocess
import sys
import tempfile
import time

PATIENCE = 60  # seconds, for steps that take none
PR_SET_CHILD_SUBREAPER = 36
DELAYS = (0, 0.01, 0.03, 0.1)  # seconds from the folder on: while it starts, and while it counts


def has_members(group: int) -> bool:
    """Whether a process of this group is left, after those that have ended are waited for."""
    try:
        while os.waitpid(-group, os.WNOHANG)[0] != 0:
            pass
    except ChildProcessError:
        pass
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    return True


def start(command, folder: str) -> subprocess.Popen:
    """The program in a group of its own, when it has made its folder."""
    # LeakSanitizer looks for leaks in a process of its own, which lives some milliseconds longer
    # than a program that is killed meanwhile.
    sanitizer = os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0"
    child = subprocess.Popen(command,
                             env={**os.environ, "TMPDIR": folder, "ASAN_OPTIONS": sanitizer},
                             start_new_session=True,
                             stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    while not os.listdir(folder) and child.poll() is None:
        time.sleep(0.001)
    return child


def interrupt(command, how: signal.Signals, whole_group: bool, delay: float) -> bool:
    """Returns true if it has ended by the signal, false if it was done before."""
    what = f"{how.name} to {'all' if whole_group else 'the first'} after {delay} s"
    with tempfile.TemporaryDirectory() as folder:
        child = start(command, folder)
        time.sleep(delay)
        if child.poll() is None:
            (os.killpg if whole_group else os.kill)(child.pid, how)
        status = child.wait(PATIENCE)
        # ThreadSanitizer writes a file of its own before `main`, and removes it if it gets so far.
        left = [f for f in os.listdir(folder) if not f.startswith("tsan.rodata.")]
        if status not in (0, -how):
            sys.exit(f"{what}: it ends with {status}")
        if left:
            sys.exit(f"{what}: it leaves {left}")
        if has_members(child.pid):
            os.killpg(child.pid, signal.SIGKILL)
            sys.exit(f"{what}: it leaves processes behind")
        return status == -how


def kill(command) -> None:
    """No process can clear away the folder, but the processes end."""
    with tempfile.TemporaryDirectory() as folder:
        child = start(command, folder)
        child.kill()
        child.wait(PATIENCE)
        end = time.monotonic() + PATIENCE
        while has_members(child.pid):
            if time.monotonic() > end:
                os.killpg(child.pid, signal.SIGKILL)
                sys.exit("killed: its processes go on without it")
            time.sleep(0.01)


def main() -> int:
    command = sys.argv[1:] + ["--nodes", "4"]
    # The processes of one that was killed become this one's.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    by_signal = 0
    for how in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        for whole_group in (True, False):
            for delay in DELAYS:
                by_signal += interrupt(command, how, whole_group, delay)
    # A walk through large folders is in a handler, which cannot be interrupted.
    endless = sys.argv[1:-1] + ["/proc", "/sys", "/usr"] + ["--nodes", "4"]
    begin = time.monotonic()
    by_signal += interrupt(endless, signal.SIGINT, False, 0.1)
    if time.monotonic() - begin > PATIENCE / 4:
        sys.exit("it goes on for long after it was interrupted")
    if by_signal == 0:
        sys.exit("it was always done before the signal came")
    kill(command)
    print(f"{by_signal} times ended by a signal, and nothing left")
    return 0


if __name__ == "__main__":
    sys.exit(main())
