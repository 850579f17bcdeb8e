"""Programs that hold only the tests which are wanted, of a folder that Ninja builds.

An error in a header would rebuild every test that includes it. So a test is linked into a program
of its own: with what all tests share and the libraries, but without the others. A model brings the
headers that it runs, and does not even need libraries that have the error.
"""

import subprocess
from pathlib import Path

from mutation import is_model, stem_of

PATIENCE = 120  # seconds for one test; what hangs longer has found something


def run(command, **options) -> subprocess.CompletedProcess:
    return subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options
    )


def first_error(output: str) -> str:
    lines = output.splitlines()
    errors = [line for line in lines if "error" in line and "-Werror" not in line]
    return (errors or lines[-1:])[0]


class programs:
    """Tests by the names that they have in CTest, in one folder of builds."""

    def __init__(self, folder: Path, jobs: int):
        self.folder = folder
        self.jobs = jobs
        self.inputs: dict[str, list[str]] = {}  # of a program: objects and libraries

    def knows(self, test: str) -> bool:
        return self.own_object(test) is not None

    def build(self, tests, also_libraries: bool) -> str:
        """Empty, or what the compiler says. Without the libraries only models are built anew."""
        for program in sorted({self.program_of(test) for test in tests}):
            complaint = self.build_program(
                program, [t for t in tests if self.program_of(t) == program], also_libraries
            )
            if complaint:
                return complaint
        return ""

    def failure(self, test: str) -> str:
        """Empty, or how the test fails. It was built."""
        command = [str(self.folder / self.apart(self.program_of(test)))]
        if not is_model(test):
            command.append(f"--source-file=*/{stem_of(test)}.test.cpp")
        try:
            done = run([*command, "--no-colors=true"], cwd=self.folder, timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            return f"hangs for {PATIENCE} s"
        if done.returncode == 0:
            return ""
        cases = [
            line[len("TEST CASE:") :].strip()
            for line in done.stdout.splitlines()
            if line.startswith("TEST CASE:")
        ]
        return cases[0] if cases else f"ends with {done.returncode}"

    def build_program(self, program: str, tests: list[str], also_libraries: bool) -> str:
        own = [self.own_object(test) for test in tests]
        if is_model(tests[0]) and not also_libraries:
            commands = [self.ninja("commands", "-s", own[0])[0]]
        else:
            shared = [name for name in self.inputs[program] if not name.endswith(".test.cpp.o")]
            done = run(["ninja", f"-j{self.jobs}", *own, *shared], cwd=self.folder)
            if done.returncode != 0:
                return first_error(done.stdout)
            commands = []
        left_out = {name for name in self.inputs[program] if name.endswith(".test.cpp.o")} - {*own}
        link = self.ninja("commands", "-s", program)[0].split(" ")
        link[link.index("-o") + 1] = self.apart(program)
        commands.append(" ".join(word for word in link if word not in left_out))
        for command in commands:
            done = run(command, cwd=self.folder, shell=True)
            if done.returncode != 0:
                return first_error(done.stdout)
        return ""

    def program_of(self, test: str) -> str:
        """By the rules of cmake/ for names."""
        part, *rest = test.split(".")
        if is_model(test):
            return f"lib/{part}/{part}_{rest[1]}_model"
        return "tests/garrick_tests" if part == "tests" else f"lib/{part}/{part}_tests"

    @staticmethod
    def apart(program: str) -> str:
        return program + "_apart"

    def own_object(self, test: str) -> str | None:
        program = self.program_of(test)
        if program not in self.inputs:
            known = run(["ninja", "-t", "inputs", program], cwd=self.folder)
            names = known.stdout.splitlines() if known.returncode == 0 else []
            self.inputs[program] = [name for name in names if name.endswith((".o", ".a"))]
        end = f"/{stem_of(test)}.{'model' if is_model(test) else 'test'}.cpp.o"
        return next((name for name in self.inputs[program] if name.endswith(end)), None)

    def ninja(self, *arguments: str) -> list[str]:
        return run(["ninja", "-t", *arguments], cwd=self.folder, check=True).stdout.splitlines()
