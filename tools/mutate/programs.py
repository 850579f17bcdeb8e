"""Programs that hold only the tests which are wanted, of a folder that Ninja builds.

An error in a header would rebuild every test that includes it. So a test is linked into a program
of its own: with the common parts of all tests and the libraries, but without the others. A model
brings the headers that it runs, and does not even need libraries that have the error.
"""

import re
import subprocess
import threading
from pathlib import Path

from mutation import is_model, stem_of

ERROR = re.compile(r": (FATAL )?ERROR: ")  # of doctest, with a test case in front
PATIENCE = 120  # seconds for one test at most; a test that hangs longer has found something
SLOWER = 10  # times as long as without an error, and some seconds for a machine that is busy
AT_LEAST = 20


def run(command, **options) -> subprocess.CompletedProcess:
    return subprocess.run(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **options
    )


def first_error(output: str) -> str:
    """The first that is no mere warning, if there is one."""
    lines = output.splitlines()
    errors = [line for line in lines if " error: " in line]
    real = [line for line in errors if "[-Werror" not in line]
    return (real or errors or lines[-1:])[0]


def tests_in(folder: Path) -> dict[str, tuple[str, list[str]]]:
    """Of each test: its program, by its name for Ninja, and the arguments that CTest gives it."""
    found = {}
    for listing in folder.rglob("CTestTestfile.cmake"):
        for name, command in re.findall(
            r'^add_test\(\[=*\[(.+?)\]=*\] (".*")\)$', listing.read_text(encoding="utf-8"), re.M
        ):
            program, *arguments = re.findall(r'"([^"]*)"', command)
            if Path(program).is_relative_to(folder):
                found[name] = (str(Path(program).relative_to(folder)), arguments)
    return found


class programs:
    """Tests by the names that they have in CTest, in one folder of builds, which is configured."""

    def __init__(self, folder: Path, jobs: int):
        self.folder = folder
        self.jobs = jobs
        self.tests = tests_in(folder)
        self.inputs: dict[str, list[str]] = {}  # of a program: objects and libraries
        self.patience: dict[str, float] = {}  # for a test, where it is known how long it takes

    def knows(self, test: str) -> bool:
        return test in self.tests and self.own_object(test) is not None

    def build(self, tests, also_libraries: bool) -> str:
        """Empty, or the compiler's message. Without the libraries only models are built anew."""
        for together in self.by_program(tests):
            complaint = self.build_program(
                self.program_of(together[0]), together, also_libraries
            )
            if complaint:
                return complaint
        return ""

    def by_program(self, tests) -> list[list[str]]:
        """The tests, those of one program together, in the order in which they are given."""
        found: dict[str, list[str]] = {}
        for test in tests:
            found.setdefault(self.program_of(test), []).append(test)
        return list(found.values())

    def took(self, test: str, seconds: float) -> None:
        """So long without an error."""
        self.patience[test] = min(AT_LEAST + SLOWER * seconds, PATIENCE)

    def failure(self, test: str) -> str:
        """Empty, or the failure of the test. It was built. Output after the first failure is left
        out: it often hangs.
        """
        program, arguments = self.tests[test]
        seconds = self.patience.get(test, PATIENCE)
        with subprocess.Popen(
            # lines as they are written, not when a buffer is full
            ["stdbuf", "-oL", str(self.folder / self.apart(program)), *arguments],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as child:
            hung = threading.Event()

            def give_up():
                hung.set()
                child.kill()

            patience = threading.Timer(seconds, give_up)
            patience.start()
            try:
                case = ""  # a message that is no failure has a case in front, too
                for line in child.stdout:
                    if line.startswith("TEST CASE:"):
                        case = line[len("TEST CASE:") :].strip()
                    elif case and ERROR.search(line):
                        return case
                status = child.wait()
            finally:
                patience.cancel()
                child.kill()
        if hung.is_set():
            return f"hangs for {seconds:.0f} s"
        return f"ends with {status}" if status != 0 else ""

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
        return self.tests[test][0]

    @staticmethod
    def apart(program: str) -> str:
        return program + "_apart"

    def own_object(self, test: str) -> str | None:
        program = self.program_of(test)
        if program not in self.inputs:
            known = run(["ninja", "-t", "inputs", program], cwd=self.folder)
            names = known.stdout.splitlines() if known.returncode == 0 else []
            # .so: libraries that a test loads while it runs
            self.inputs[program] = [
                name
                for name in names
                if name.endswith((".o", ".a", ".so")) and not Path(name).is_absolute()
            ]
        end = f"/{stem_of(test)}.{'model' if is_model(test) else 'test'}.cpp.o"
        return next((name for name in self.inputs[program] if name.endswith(end)), None)

    def ninja(self, *arguments: str) -> list[str]:
        return run(["ninja", "-t", *arguments], cwd=self.folder, check=True).stdout.splitlines()
