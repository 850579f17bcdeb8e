#!/usr/bin/env python3
"""usage.py [EMULATOR] PROGRAM: an example answers `--help` and `-h` at once, with the same text.

The text begins with the name of the example, fits a screen's width, and is all that the program
writes; the program ends with status 0. If the text has words behind the name, such as `serve`, an
example given another word writes the text to standard error, and ends with status 2.
"""

import pathlib
import re
import subprocess
import sys

PATIENCE = 60  # seconds: an emulator or a sanitizer is slow


def complaint(name: str, answers: list[tuple[int, str, str]]) -> str:
    """Returns the fault in the (status, output, errors) of the two options, or ""."""
    for status, output, errors in answers:
        if status != 0:
            return f"{name} ended with {status}"
        if not output.startswith(f"{name} ") or not output.endswith("\n"):
            return f"{name} wrote no usage: {output!r}"
        if errors:
            return f"{name} wrote to standard error: {errors!r}"
        if wide := [line for line in output.splitlines() if len(line) > 80]:
            return f"{name}: a line has more than 80 columns: {wide[0]}"
    return "" if answers[0] == answers[1] else f"{name}: --help and -h differ"


def takes_words(name: str, text: str) -> bool:
    """True if the usage has lines such as `NAME serve ADDRESS`, with one blank before the word."""
    return re.search(rf"^{re.escape(name)} [a-z]", text, re.M) is not None


def complaint_of_word(name: str, text: str, answer: tuple[int, str, str]) -> str:
    """Returns the fault in the answer to an unknown word, or ""."""
    if answer == (2, "", text):
        return ""
    return f"{name} with an unknown word: {answer!r}"


def ask(command: list[str], option: str) -> tuple[int, str, str]:
    # A server that overlooks the option would wait here for a line.
    done = subprocess.run([*command, option], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=PATIENCE)
    return done.returncode, done.stdout, done.stderr


def main() -> int:
    command = sys.argv[1:]
    name = pathlib.Path(command[-1]).name
    answers = [ask(command, option) for option in ("--help", "-h")]
    trouble = complaint(name, answers)
    text = answers[0][1]
    if not trouble and takes_words(name, text):
        trouble = complaint_of_word(name, text, ask(command, "nonsense"))
    print(trouble or "--help and -h are answered")
    return 1 if trouble else 0


if __name__ == "__main__":
    sys.exit(main())
