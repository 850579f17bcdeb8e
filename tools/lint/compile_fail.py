#!/usr/bin/env python3
"""compile_fail.py FILE [--flag=X...] -- COMPILER [ARG...]: FILE must fail to compile, with a readable message.

The file's first lines say how:
    // expect: text       the compiler's errors must contain this text (a line for each text; all must be there)
    // max-lines: 15      the first expected text must appear within that many lines of output, and the output must not
                          be longer than twice that (default 15)
A file that mentions GARRICK_CONTROL must compile when that macro is defined: so it fails for the reason it names and no other.
"""
import subprocess
import sys
from pathlib import Path

DEFAULT_LINES = 15


def directives(text: str) -> tuple[list[str], int]:
    expected, limit = [], DEFAULT_LINES
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        body = line[2:].strip()
        if body.startswith("expect:"):
            expected.append(body.removeprefix("expect:").strip())
        elif body.startswith("max-lines:"):
            limit = int(body.removeprefix("max-lines:"))
    return expected, limit


def command_for(compiler: list[str], file: str) -> list[str]:
    version = subprocess.run([compiler[0], "--version"], capture_output=True, text=True, check=True).stdout
    first_only = ["-ferror-limit=1", "-fno-caret-diagnostics"] if "clang" in version else ["-fmax-errors=1", "-fno-diagnostics-show-caret"]
    return [*compiler, "-std=c++20", "-w", *first_only, "-fno-color-diagnostics" if "clang" in version else "-fdiagnostics-color=never",
            "-c", "-o", "/dev/null", file]


def judge(expected: list[str], limit: int, status: int, output: str) -> list[str]:
    """What is wrong with the compiler's answer; nothing when the list is empty."""
    if not expected or not all(expected):
        return ["the file must open with a line `// expect: text`"]
    if status == 0:
        return ["it compiles, but it must not"]
    lines = output.splitlines()
    wrong = [f"the message does not contain: {text}" for text in expected if text not in output]
    if not wrong:
        first = next(number for number, line in enumerate(lines, 1) if any(text in line for text in expected))
        if first > limit:
            wrong.append(f"the expected text comes in line {first} of the output, the limit is {limit}")
        if len(lines) > 2 * limit:
            wrong.append(f"the output has {len(lines)} lines, the limit is {2 * limit}")
    return wrong


def main() -> int:
    split = sys.argv.index("--")
    file, compiler = sys.argv[1], sys.argv[split + 1:]
    text = Path(file).read_text(encoding="utf-8")
    expected, limit = directives(text)
    command = command_for(compiler, file)
    done = subprocess.run(command, capture_output=True, text=True)
    wrong = judge(expected, limit, done.returncode, done.stderr)
    if "GARRICK_CONTROL" in text:
        control = subprocess.run([*command, "-DGARRICK_CONTROL"], capture_output=True, text=True)
        if control.returncode != 0:
            wrong.append("with GARRICK_CONTROL it must compile, but:\n" + control.stderr)
    for problem in wrong:
        print(problem)
    print(done.stderr, end="")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
