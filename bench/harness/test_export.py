"""Tests of the package for a machine without a compiler."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest
from types import SimpleNamespace

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))

from harness import export  # noqa: E402


def workload(group="gpu", program="x", name="x"):
    return SimpleNamespace(
        group=group, program=program, name=name, contenders=[SimpleNamespace(system="garrick")]
    )


class Export(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.build = self.root / "build"
        (self.build / "bench").mkdir(parents=True)
        (self.build / "bench" / "toolchain.json").write_text(json.dumps({"systems": {}}))
        shutil.copy(shutil.which("true"), self.build / "bench" / "bench_launch")

    def program(self, name):
        # python3 itself: a program with shared libraries beyond the C library's on most machines
        shutil.copy(sys.executable, self.build / "bench" / name)

    def test_programs_libraries_harness_and_runner_are_packed(self):
        self.program("bench_x_garrick")
        out = self.root / "export"
        text = export.pack([workload()], self.build, HERE.parent, out)
        self.assertIn("2 programs", text)
        self.assertTrue((out / "build" / "bench" / "bench_x_garrick").is_file())
        self.assertTrue((out / "bench" / "run.py").is_file())
        self.assertTrue((out / "bench" / "gpu" / "overhead" / "workload.json").is_file())
        self.assertFalse(list(out.rglob("test_*.py")))
        self.assertFalse(list(out.rglob("libc.so*")))
        syntax = subprocess.run(["sh", "-n", out / "run"], check=False)
        self.assertEqual(syntax.returncode, 0)
        listed = subprocess.run(
            [sys.executable, out / "bench" / "run.py", "--list", "gpu"],
            capture_output=True,
            text=True,
            check=True,
        )
        self.assertIn("gpu_overhead_8", listed.stdout)

    def test_a_program_that_was_not_built_is_named(self):
        with self.assertRaisesRegex(FileNotFoundError, "bench_x_garrick"):
            export.pack([workload()], self.build, HERE.parent, self.root / "export")

    def test_without_opencl_the_group_gpu_is_left_out(self):
        self.program("bench_y_garrick")
        chosen = [workload(), workload(group="actors", program="y", name="y")]
        left = export.those_that_can_be_built(chosen, self.build)
        self.assertEqual([w.name for w in left], ["y"])
        self.program("bench_x_garrick")
        self.assertEqual(export.those_that_can_be_built(chosen, self.build), chosen)


if __name__ == "__main__":
    unittest.main()
