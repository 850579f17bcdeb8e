#!/usr/bin/env python3
"""scarce.py memory|disk PROGRAM [ARG...]: a program that gets too little ends soon, with status 1
and a sentence that names the lack.

memory: address space for the program's start, but not for its work, at several limits; at each it
may also succeed. disk: standard output is /dev/full.
"""

import resource
import signal
import subprocess
import sys

MEGABYTE = 1_000_000
LIMITS = [60, 80, 100, 120, 150]  # of memory, in megabytes
SECONDS = 60
OF_GLIBC = "Fatal glibc error: failed to register TLS destructor: out of memory"
LACKING = {
    "memory": ["not enough memory", "Resource temporarily unavailable"],
    "disk": ["No space left on device"],
}


def complaint(what: str, status: int, errors: str) -> str:
    """The fault of the end of a program that lacked something; empty: none."""
    if what == "memory" and status == -signal.SIGABRT and OF_GLIBC in errors:
        return ""  # glibc itself ends a process that has no memory for a thread's destructors
    if status != 1:
        return f"it ended with {status}, expected 1"
    if not any(text in errors for text in LACKING[what]):
        return f"its last words name nothing that it lacked: {LACKING[what]}"
    if "incomplete" not in errors:
        return "it does not say that the result is incomplete"
    return ""


def run(command: list[str], output, megabytes: int = 0) -> tuple[int, str]:
    def limit() -> None:
        if megabytes:
            resource.setrlimit(resource.RLIMIT_AS, (megabytes * MEGABYTE,) * 2)

    done = subprocess.run(
        command,
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
        errors="backslashreplace",
        timeout=SECONDS,
        preexec_fn=limit,
    )
    return done.returncode, done.stderr


def main() -> int:
    what, *command = sys.argv[1:]
    failed = lacked = 0
    for megabytes in LIMITS if what == "memory" else [0]:
        label = f"{megabytes} MB" if megabytes else "/dev/full"
        try:
            with open("/dev/null" if what == "memory" else "/dev/full", "w") as output:
                status, errors = run(command, output, megabytes)
        except subprocess.TimeoutExpired:
            status, errors = 0, ""
            wrong = f"it had not ended after {SECONDS} s"
        else:
            enough = what == "memory" and status == 0
            lacked += not enough
            wrong = "" if enough else complaint(what, status, errors)
        if wrong:
            failed += 1
            print(f"{label}: {wrong}\n{errors}")
        else:
            print(f"{label}: {errors.splitlines()[-1] if errors else 'enough'}")
    if lacked == 0 and failed == 0:
        print("it never lacked anything: this test has tested nothing")
        return 1
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
