"""For all lints: the list of files, and C++ without its comments and strings."""

import argparse
import os
import re
import subprocess
import sys
from pathlib import Path

CODE_FOLDERS = ("lib", "tests", "examples", "bench")
CPP = (".hpp", ".cpp")


def all_files(root: Path) -> list[Path]:
    """Every file of the project, relative to root: those that git tracks or would track. Without
    git, all files.
    """
    try:
        if not (root / ".git").exists():
            raise FileNotFoundError
        listed = subprocess.run(
            [
                "git",
                "-C",
                str(root),
                "ls-files",
                "-z",
                "--cached",
                "--others",
                "--exclude-standard",
            ],
            capture_output=True,
            check=True,
            text=True,
        ).stdout.split("\0")
        found = [Path(name) for name in listed if name and (root / name).is_file()]
    except (FileNotFoundError, subprocess.CalledProcessError):
        found = []
        for folder, names, files in os.walk(root):
            names[:] = [name for name in names if name not in (".git", "build", "__pycache__")]
            found += [(Path(folder) / name).relative_to(root) for name in files]
    return sorted(set(found))


def cpp_files(root: Path) -> list[Path]:
    return [
        path for path in all_files(root) if path.suffix in CPP and path.parts[0] in CODE_FOLDERS
    ]


def read(path: Path) -> str:
    return path.read_text(encoding="utf-8", errors="replace")


CPP_TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/'
    r'|R"(?P<tag>[^(\s]*)\(.*?\)(?P=tag)"'
    r'|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])*\'',
    re.S,
)


def without_comments(text: str, keep_strings: bool = False) -> str:
    """The text with comments (and the insides of strings) blanked; lines keep their numbers."""

    def blank(match: re.Match) -> str:
        token = match.group(0)
        if not token.startswith("/"):
            return token if keep_strings else '""' + "\n" * token.count("\n")
        return " " + "\n" * token.count("\n")

    return CPP_TOKEN.sub(blank, text)


def without_strings(text: str) -> str:
    """The text with the insides of strings blanked; comments stay, lines keep their numbers."""

    def blank(match: re.Match) -> str:
        token = match.group(0)
        return token if token.startswith("/") else '""' + "\n" * token.count("\n")

    return CPP_TOKEN.sub(blank, text)


def main(name: str, check) -> int:
    """Runs check(root) -> list of 'path:line: message' and reports; the exit status says whether
    the list was empty.
    """
    parser = argparse.ArgumentParser(prog=name)
    parser.add_argument(
        "--root", type=Path, default=Path(__file__).resolve().parents[2], help="the folder to check"
    )
    problems = check(parser.parse_args().root.resolve())
    for problem in problems:
        print(problem)
    print(f"{name}: {len(problems)} problem(s)" if problems else f"{name}: clean")
    return 1 if problems else 0


def run(name: str, check) -> None:
    sys.exit(main(name, check))
