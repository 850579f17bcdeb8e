"""Packs programs for a machine that has python3 and a driver, but neither compiler nor registry:
the programs, the shared libraries that they need, and the harness with its inputs.

The C library and its parts stay behind: a driver of the other machine is made for that one's. So
that machine needs a C library that is as new as this one's, and the runner says so.
"""

import pathlib
import re
import shutil
import stat
import subprocess
import sys

OF_THE_C_LIBRARY = re.compile(
    r"^(ld-linux|libc\.so|libm\.so|libdl\.so|librt\.so|libpthread\.so|libresolv\.so|linux-vdso)"
)
RUNNER = """#!/bin/sh
# Measures what was packed: ./run [ARGUMENT...], as `./dev bench`.
here=$(cd "$(dirname "$0")" && pwd)
LD_LIBRARY_PATH=$here/build/bench/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
command -v python3 >/dev/null || { echo "python3 is missing" >&2; exit 2; }
for program in "$here"/build/bench/bench_*; do
  if ldd "$program" 2>&1 | grep -E 'not found|version .* not found' >&2; then
    echo "$program needs these; is this machine's C library older than that of the build?" >&2
    exit 2
  fi
done
# Where a driver lies that nobody has registered, as in some containers, the loader is told of it.
if [ -z "$OCL_ICD_VENDORS" ] && ! ls /etc/OpenCL/vendors/*.icd >/dev/null 2>&1; then
  for driver in /usr/local/nvidia/lib64/libnvidia-opencl.so.1 \\
    /usr/lib/x86_64-linux-gnu/libnvidia-opencl.so.1 /usr/lib64/libnvidia-opencl.so.1; do
    if [ -e "$driver" ]; then
      mkdir -p "$here/vendors"
      echo "$driver" >"$here/vendors/nvidia.icd"
      export OCL_ICD_VENDORS="$here/vendors"
      break
    fi
  done
  [ -n "$OCL_ICD_VENDORS" ] || echo "no driver of OpenCL is registered in /etc/OpenCL/vendors" >&2
fi
exec python3 "$here/bench/run.py" "$@" --build "$here/build" --out "$here/results"
"""


def those_that_can_be_built(chosen, build):
    """Without OpenCL there is no program of the group gpu: it is left out, and that is said."""
    missing = [
        w
        for w in chosen
        if w.group == "gpu"
        and not any((build / "bench").glob(f"bench_{w.program}_*"))
        and (build / "bench").is_dir()
    ]
    if missing:
        print(
            "bench: OpenCL's headers and loader were not found when this was built, so left out: "
            + ", ".join(w.name for w in missing),
            file=sys.stderr,
        )
    return [w for w in chosen if w not in missing]


def libraries_of(program):
    """Paths of the shared libraries that a program needs, without those of the C library."""
    listed = subprocess.run(["ldd", program], capture_output=True, text=True, check=False).stdout
    for line in listed.splitlines():
        match = re.match(r"\s*(\S+) => (\S+) \(", line)
        if match and not OF_THE_C_LIBRARY.match(match.group(1)):
            yield match.group(1), pathlib.Path(match.group(2))


def copied(source, target):
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy2(source, target)


def pack(chosen, build, workloads, out):
    """Makes the folder anew, and returns a list of its contents."""
    shutil.rmtree(out, ignore_errors=True)
    programs = [build / "bench" / "bench_launch"]
    for w in chosen:
        for system in dict.fromkeys(c.system for c in w.contenders):
            programs.append(build / "bench" / f"bench_{w.program}_{system}")
    programs = list(dict.fromkeys(programs))
    missing = [p.name for p in programs if not p.is_file()]
    if missing:
        raise FileNotFoundError(f"these programs were not built: {', '.join(missing)}")
    libraries = {}
    for program in programs:
        copied(program, out / "build" / "bench" / program.name)
        libraries.update(libraries_of(program))
    for name, path in sorted(libraries.items()):
        copied(path, out / "build" / "bench" / "lib" / name)
    copied(build / "bench" / "toolchain.json", out / "build" / "bench" / "toolchain.json")
    copied(workloads / "run.py", out / "bench" / "run.py")
    for file in sorted((workloads / "harness").glob("*.py")):
        if not file.name.startswith("test_"):
            copied(file, out / "bench" / "harness" / file.name)
    copied(workloads / "common" / "systems.json", out / "bench" / "common" / "systems.json")
    for group in sorted({w.group for w in chosen}):
        for file in sorted((workloads / group).rglob("*")):
            if file.name == "workload.json" or file.suffix in (".cpp", ".json"):
                copied(file, out / "bench" / file.relative_to(workloads))
    runner = out / "run"
    runner.write_text(RUNNER)
    runner.chmod(runner.stat().st_mode | stat.S_IXUSR | stat.S_IXGRP | stat.S_IXOTH)
    return (
        f"{out}: {len(programs)} programs, {len(libraries)} shared libraries "
        f"({', '.join(sorted(libraries))}); there, `./run` measures"
    )
