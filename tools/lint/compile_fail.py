#!/usr/bin/env python3
"""compile_fail.py FILE -- COMPILER [ARG...]: FILE must fail to compile, with a readable message of
at most 15 lines, which is all that the compiler prints by default.

The file's first lines say how:
    // expect: text                  the compiler's output must contain this text (a line for each
                                     text; all must be there); `one|other` where compilers spell it
                                     differently
    // max-lines: clang 34: reason   an exception for one compiler (gcc, clang), and why it cannot
                                     be helped
    // each: one two                 the file is compiled once for each word, with
                                     GARRICK_WITHOUT_<word> defined; `{}` in an expected text stands
                                     for the word. Without any of them it must compile
    // only: gcc: reason             this compiler must refuse it; the other must compile it
A file that mentions GARRICK_CONTROL must compile when that macro is defined: so it fails for the
reason it names and no other. Of both compilers GCC alone is asked that: their messages differ, not
their refusals.

compile_fail.py --precompile HEADER COPY -- COMPILER [ARG...] compiles HEADER in advance, which
makes the tests four times as fast. They include it with `-include COPY`. The messages have as many
lines as without it.
"""

import re
import subprocess
import sys
from pathlib import Path

LIMIT = 15


def directives(text: str) -> tuple[list[list[str]], dict[str, int], list[str], list[str]]:
    """The texts to expect, the exceptions to the limit, the words of `each`, and the faults of
    the directives.
    """
    expected, limits, each, wrong = [], {}, [], []
    for line in text.splitlines():
        if not line.startswith("//"):
            break
        body = line[2:].strip()
        if body.startswith("expect:"):
            expected.append([part.strip() for part in body.removeprefix("expect:").split("|")])
        elif body.startswith("each:"):
            each += body.removeprefix("each:").split()
        elif body.startswith("only:"):
            if not re.fullmatch(r"only: (gcc|clang): \S.*", body):
                wrong.append(f"one compiler is named `// only: gcc: reason`, not: {body}")
        elif body.startswith("max-lines:"):
            exception = re.fullmatch(r"max-lines: (gcc|clang) (\d+): \S.*", body)
            if exception:
                limits[exception[1]] = int(exception[2])
            else:
                wrong.append(
                    f"an exception is written `// max-lines: clang 34: reason`, not: {body}"
                )
    if not expected or not all(all(one) for one in expected):
        wrong.append("the file must open with a line `// expect: text`")
    return expected, limits, each, wrong


def judge(expected: list[list[str]], limit: int, status: int, output: str) -> list[str]:
    """The faults of the compiler's answer; an empty list: none."""
    if status == 0:
        return ["it compiles, but it must not"]
    wrong = [
        f"the message does not contain: {' or '.join(one)}"
        for one in expected
        if not any(text in output for text in one)
    ]
    if len(output.splitlines()) > limit:
        wrong.append(f"the output has {len(output.splitlines())} lines, the limit is {limit}")
    return wrong


def precompile(header: Path, copy: Path, compiler: list[str]) -> int:
    """Both compilers look for the compiled header beside the one that is to be included. To clang,
    the header in between would be worth a line in each message.
    """
    copy.parent.mkdir(parents=True, exist_ok=True)
    copy.write_text(f'#include "{header}"\n', encoding="utf-8")
    source, suffix = (header, ".pch") if is_clang(compiler) else (copy, ".gch")
    command = [*compiler, "-std=c++20", "-x", "c++-header", str(source), "-o", f"{copy}{suffix}"]
    return subprocess.run(command).returncode


def is_clang(compiler: list[str]) -> bool:
    command = [compiler[0], "--version"]
    return "clang" in subprocess.run(command, capture_output=True, text=True, check=True).stdout


def main() -> int:
    split = sys.argv.index("--")
    if sys.argv[1] == "--precompile":
        return precompile(Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[split + 1 :])
    file, compiler = sys.argv[1], sys.argv[split + 1 :]
    text = Path(file).read_text(encoding="utf-8")
    expected, limits, each, wrong = directives(text)
    kind = "clang" if is_clang(compiler) else "gcc"
    limit = limits.get(kind, LIMIT)
    only = re.search(r"^// only: (\w+):", text, re.MULTILINE)

    def compile_with(*macros: str) -> subprocess.CompletedProcess:
        command = [
            *compiler,
            "-std=c++20",
            "-fsyntax-only",
            file,
            *("-D" + macro for macro in macros),
        ]
        return subprocess.run(command, capture_output=True, text=True)

    if only and only[1] != kind:
        done = compile_with()
        print("".join(wrong) + done.stderr, end="")
        return 1 if wrong or done.returncode != 0 else 0

    output = ""
    for word in each or [""]:
        done = compile_with("GARRICK_WITHOUT_" + word) if word else compile_with()
        wanted = [[text.replace("{}", word) for text in one] for one in expected]
        wrong += [
            f"without {word}: {problem}" if word else problem
            for problem in judge(wanted, limit, done.returncode, done.stderr)
        ]
        output = done.stderr
    if kind == "gcc" and (each or "GARRICK_CONTROL" in text):
        control = compile_with() if each else compile_with("GARRICK_CONTROL")
        if control.returncode != 0:
            wrong.append(
                ("with all of them" if each else "with GARRICK_CONTROL")
                + " it must compile, but:\n"
                + control.stderr
            )
    for problem in wrong:
        print(problem)
    print(output, end="")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
