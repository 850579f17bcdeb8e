#!/usr/bin/env python3
"""expect_output.py EXPECTED PROGRAM [ARG...]: runs the program and compares its standard output
with the file, byte by byte.
"""

import difflib
import subprocess
import sys


def main() -> int:
    expected_path, *command = sys.argv[1:]
    with open(expected_path, encoding="utf-8") as file:
        expected = file.read()
    done = subprocess.run(
        command, stdout=subprocess.PIPE, text=True, encoding="utf-8", errors="backslashreplace"
    )
    if done.returncode != 0:
        print(done.stdout, end="")
        print(f"{command[0]} ended with {done.returncode}, expected 0")
        return 1
    if done.stdout != expected:
        diff = difflib.unified_diff(
            expected.splitlines(True),
            done.stdout.splitlines(True),
            expected_path,
            "the program's output",
        )
        sys.stdout.writelines(line if line.endswith("\n") else line + "\n" for line in diff)
        return 1
    print(f"{len(expected.splitlines())} lines as expected")
    return 0


if __name__ == "__main__":
    sys.exit(main())
