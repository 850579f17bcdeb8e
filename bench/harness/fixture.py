"""The common part of the harness' tests: a bench folder and fake programs that print the test's
text.
"""

import json
import os
import pathlib
import shutil
import stat
import sys
import tempfile
import unittest

import run as cli

from . import compare, measure, workload

FAKE = """#!{python} -IS
import json, pathlib, sys
options = dict(zip(sys.argv[1::2], sys.argv[2::2]))
log = pathlib.Path({log!r})
with log.open("a") as f:
    f.write({system!r} + " " + options.get("--mode", "-") + "\\n")
turn = log.read_text().splitlines().count({system!r} + " " + options.get("--mode", "-"))
{body}
"""

SYSTEMS = {
    "garrick": {"default": {"threads": "{cores}"}},
    "caf-0.17": {"default": {"mode": "slow"}, "cores": {"mode": "fast", "threads": "{cores}"}},
    "bare": {"default": {}},
}


def line(seconds, items=1000, check="ok", **more):
    return (
        "print(json.dumps(dict("
        + ", ".join(
            [f"seconds={seconds}", f"items={items}", f"check={check!r}"]
            + [f"{k}={v!r}" for k, v in more.items()]
        )
        + ")))"
    )


class Fixture(unittest.TestCase):
    """A bench folder and a build folder with programs that print a text of the test's choice."""

    def setUp(self):
        self.root = pathlib.Path(tempfile.mkdtemp(prefix="bench-test-"))
        self.addCleanup(shutil.rmtree, self.root)
        self.bench = self.root / "source"
        self.build = self.root / "build"
        self.out = self.root / "out"
        (self.bench / "common").mkdir(parents=True)
        (self.build / "bench").mkdir(parents=True)
        (self.bench / "common" / "systems.json").write_text(json.dumps(SYSTEMS))
        compiler = shutil.which("g++") or shutil.which("c++")
        flags = {"flags": ["-O0"]}
        (self.build / "bench" / "toolchain.json").write_text(
            json.dumps(
                {
                    "compiler": compiler,
                    "compiler_version": "test",
                    "strip": "true",
                    "caf_version": "0",
                    "systems": {"garrick": flags, "caf-0.17": flags},
                }
            )
        )
        self.assertIn("BENCH_LAUNCH", os.environ, "ctest sets BENCH_LAUNCH to the launcher")
        shutil.copy(os.environ["BENCH_LAUNCH"], self.build / "bench" / "bench_launch")
        self.log = self.root / "log"

    def describe(self, name="fake", **changes):
        folder = self.bench / (changes.get("group") or "fakes") / name
        folder.mkdir(parents=True, exist_ok=True)
        description = {
            "name": name,
            "what": "a fake",
            "group": "fakes",
            "kind": "run",
            "params": {"quick": {"n": 3}, "full": {"n": 4}},
            "metric": "ns_per_item",
            "unit": "ns/item",
            "better": "lower",
            "peers": ["caf-0.17"],
            "targets": [],
        }
        description.update(changes)
        description = {k: v for k, v in description.items() if v is not None}
        (folder / "workload.json").write_text(json.dumps(description))
        return folder / "workload.json"

    def program(self, system, body, name="fake", source="int main() {}\n", below="bench"):
        (self.bench / "fakes" / name / f"{system}.cpp").write_text(source)
        path = self.build / below / f"bench_{name}_{system}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            FAKE.format(python=sys.executable, log=str(self.log), system=system, body=body)
        )
        path.chmod(path.stat().st_mode | stat.S_IXUSR)

    def run_cli(self, *args):
        with open(os.devnull, "w") as quiet:
            saved = sys.stdout, sys.stderr
            sys.stdout = sys.stderr = quiet
            try:
                return cli.main(
                    [
                        *args,
                        "--workloads",
                        str(self.bench),
                        "--build",
                        str(self.build),
                        "--out",
                        str(self.out),
                    ]
                )
            finally:
                sys.stdout, sys.stderr = saved

    def records(self):
        return json.loads((self.out / "results.json").read_text())

    def reports(self, runs=2):
        tools = measure.Tools(self.build)
        return [
            compare.report_on(w, measure.measure(w, tools, runs))
            for w in workload.find_all(self.bench, "quick", 2)
        ]
