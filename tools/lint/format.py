#!/usr/bin/env python3
"""Compares the C++ sources with .clang-format; --fix rewrites them. Without clang-format 19 it says
so and passes.
"""

import argparse
import shutil
import subprocess
import sys
from pathlib import Path

from sources import cpp_files


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[2])
    parser.add_argument("--fix", action="store_true", help="rewrite the files")
    parser.add_argument("files", nargs="*", help="only these files")
    options = parser.parse_args()
    root = options.root.resolve()
    tool = shutil.which("clang-format-19")
    if tool is None:
        print("format: skipped, clang-format-19 is not installed")
        return 0
    files = options.files or [str(root / path) for path in cpp_files(root)]
    if not files:
        print("format: no files")
        return 0
    done = subprocess.run(
        [tool, "-i", *files] if options.fix else [tool, "--dry-run", "--Werror", *files],
        capture_output=True,
        text=True,
    )
    bad = sorted({line.split(":")[0] for line in done.stderr.splitlines() if ": error:" in line})
    for path in bad:
        print(f"{path}: not formatted; ./dev format does it")
    if done.returncode != 0 and not bad:
        print(done.stderr)
    print(
        f"format: {len(bad)} of {len(files)} files differ"
        if bad
        else f"format: {len(files)} files clean"
    )
    return done.returncode


if __name__ == "__main__":
    sys.exit(main())
