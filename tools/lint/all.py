#!/usr/bin/env python3
"""Runs every lint of this folder, the self-tests included, and counts."""

import subprocess
import sys
from pathlib import Path

LINTS = (
    "layering",
    "memory_order",
    "gpu_waits",
    "sizes",
    "words",
    "planted",
    "left_out",
    "format",
    "contracts",
    "self_test",
)


def main() -> int:
    chosen = sys.argv[1:] or LINTS
    unknown = [name for name in chosen if name not in LINTS]
    if unknown:
        print(f"no lint is called {' '.join(unknown)}; there are {' '.join(LINTS)}")
        return 2
    folder = Path(__file__).resolve().parent
    failed = [
        name
        for name in chosen
        if subprocess.run([sys.executable, "-u", str(folder / f"{name}.py")]).returncode != 0
    ]
    if failed:
        print(f"failed: {' '.join(failed)}")
    print(f"{len(chosen) - len(failed)} passed, {len(failed)} failed (lints)")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
