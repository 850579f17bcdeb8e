#!/usr/bin/env python3
"""No source of lib/gpu waits for a device: not by a function of OpenCL that waits, no transfer
that blocks, and not by opencl.hpp, in which functions do so by default.

A worker that waited would hold up every actor; the submitting thread that waited, every request.
Tests count the calls (tests/gpu/layer); this lint looks at the sources.
"""

import re
from pathlib import Path

from sources import cpp_files, read, run, without_comments

WAITS = re.compile(r"\b(clFinish|clWaitForEvents|CL_TRUE|CL_BLOCKING)\b")
# opencl.hpp: queue.finish(), event.wait(), cl::Event::waitForEvents, cl::copy
OF_OPENCL_HPP = re.compile(r"(?:\.|->)\s*(finish|wait)\s*\(\s*\)|\bcl::(\w+)|\b(waitForEvents)\b")
INCLUDE = re.compile(r'#\s*include\s*[<"](CL/(?:cl2|opencl|cl)\.h(?:pp)?)[>"]')
# The one header that includes OpenCL.
OPENCL = "lib/gpu/garrick/gpu/internal/opencl.hpp"
# Names of our own that end a hash, not a queue.
OWN_FINISH = re.compile(r"\b(?:h|sha256|hash)\s*\.\s*finish\s*\(\s*\)")
BLOCKING_TRANSFER = re.compile(
    r"\bclEnqueue(?:Read|Write|Map)\w*\s*\(\s*[^,;]+,(?P<object>[^;]*?),\s*(?P<blocking>\w+)\s*,",
    re.S,
)


def check_text(name: str, text: str) -> list[str]:
    code = without_comments(text)
    problems = []

    def add(at: int, what: str) -> None:
        problems.append(f"{name}:{code.count(chr(10), 0, at) + 1}: {what}")

    for match in WAITS.finditer(code):
        add(match.start(), f"{match.group(1)} waits for a device; use an event's callback")
    for match in OF_OPENCL_HPP.finditer(OWN_FINISH.sub(lambda m: " " * len(m.group(0)), code)):
        add(match.start(), f"{match.group(0).strip()} is of opencl.hpp, or waits")
    for match in BLOCKING_TRANSFER.finditer(code):
        if match.group("blocking") != "CL_FALSE" and "CL_FALSE" not in match.group("object"):
            add(match.start(), "a transfer says CL_FALSE, so that it does not block")
    for match in INCLUDE.finditer(without_comments(text, keep_strings=True)):
        if name != OPENCL:
            add(match.start(), f"only {Path(OPENCL).name} includes {match.group(1)}")
    return problems


def check(root: Path) -> list[str]:
    return [
        problem
        for path in cpp_files(root)
        if path.parts[:2] == ("lib", "gpu") and not path.name.endswith(".test.cpp")
        for problem in check_text(path.as_posix(), read(root / path))
    ]


if __name__ == "__main__":
    run("gpu_waits", check)
