"""The machine of the figures: stands in the report and in environment.json."""

import datetime
import os
import pathlib
import platform
import re
import subprocess


def first_match(path, pattern, fallback="unknown"):
    try:
        found = re.search(pattern, pathlib.Path(path).read_text(), re.MULTILINE)
    except OSError:
        return fallback
    return found.group(1).strip() if found else fallback


def output_of(*command, cwd=None):
    try:
        return subprocess.run(
            command, cwd=cwd, capture_output=True, text=True, check=True
        ).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "unknown"


def usable_cores():
    return len(os.sched_getaffinity(0))


def gather(tools, root, mode, runs):
    chain = tools.toolchain
    flags = {
        name: " ".join(f for f in s["flags"] if not f.startswith("-I"))
        for name, s in chain["systems"].items()
    }
    revision = output_of("git", "describe", "--always", "--dirty", cwd=root)
    memory_kb = first_match("/proc/meminfo", r"MemTotal:\s+(\d+)", "0")
    return {
        "date": datetime.datetime.now().astimezone().isoformat(timespec="seconds"),
        "processor": first_match("/proc/cpuinfo", r"model name\s*:\s*(.+)"),
        "cores used": usable_cores(),
        "cores present": os.cpu_count(),
        "memory": f"{int(memory_kb) / 1e6:.1f} GB",
        "kernel": f"{platform.system()} {platform.release()}",
        "load before": " ".join(f"{x:.2f}" for x in os.getloadavg()),
        "compiler": chain["compiler_version"],
        **{f"flags ({name})": text for name, text in flags.items()},
        "CAF": chain["caf_version"],
        "allocator": f"{platform.libc_ver()[0]} {platform.libc_ver()[1]} malloc"
        + (f", LD_PRELOAD={os.environ['LD_PRELOAD']}" if os.environ.get("LD_PRELOAD") else "")
        + "; garrick takes envelopes and actors from its own pools",
        "revision": revision,
        "parameters": mode,
        "counted runs": runs or "5, or the number of a workload",
    }
