"""Runs a program under oclgrind: its log is empty for our kernels, and names the planted one."""

import pathlib
import shutil
import subprocess
import sys
import tempfile


def run(program: str, *arguments: str) -> tuple[str, str]:
    """Its output, and oclgrind's log."""
    with tempfile.TemporaryDirectory() as folder:
        log = pathlib.Path(folder) / "log"
        done = subprocess.run(
            ["oclgrind", "--log", str(log), program, *arguments],
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode != 0:
            sys.exit(f"exit status {done.returncode}: {done.stdout}{done.stderr}")
        return done.stdout, log.read_text() if log.exists() else ""


def main() -> None:
    program = sys.argv[1]
    if shutil.which("oclgrind") is None:
        print("skipped: there is no oclgrind")
        return
    printed, log = run(program)
    if printed.split() != ["9", "7", "5", "3", "17", "15", "13", "11"]:
        sys.exit(f"wrong result: {printed}")
    if log.strip():
        sys.exit(f"oclgrind complains of kernels that are right:\n{log}")
    _, log = run(program, "planted")
    for words in ("Invalid write of size 4", "Kernel: planted", "Global(7,0,0)"):
        if words not in log:
            sys.exit(f"oclgrind's log lacks '{words}':\n{log}")
    print("the log is empty for ours, and names the planted kernel")


if __name__ == "__main__":
    main()
