#!/usr/bin/env python3
"""Text that must not be in the repository: notes of unfinished work, paths of a developer's
machine, conflict marks, stray blanks; sentences that begin with a riddle, and too many that hide
their subject behind `what`, `who` or `nobody` (CONTRIBUTING.md, "Language").

Such words are counted for each part, in the comments of code, in the names of test cases and in the
prose of Markdown. A part is a folder of lib/, tests/ or docs/, another folder of the root, or a
page there. Code in backquotes, fenced blocks, other strings and the texts that a compile-fail test
expects do not count. Questions may begin with `What`.
"""

import re
from collections import defaultdict
from pathlib import Path

from sources import CPP_TOKEN, all_files, run

# Written in pieces so that this file passes its own check.
NOTES = ("TO" "DO", "FIX" "ME", "XX" "X", "HA" "CK")
FOLDERS = ("/ho" "me/", "/ro" "ot/", "/wo" "rk/", "/Us" "ers/", "/mn" "t/")
UNFINISHED = re.compile(rf"\b({'|'.join(NOTES)})\b")
MACHINE_PATH = re.compile(rf"(?<![\w.])({'|'.join(FOLDERS)})[\w.-]+")
CONFLICT = re.compile(r"^(<{7}|>{7}|={7})( |$)")
BLANKS = re.compile(r"\t|[^\S\n]$", re.M)
SUSPECT = (*NOTES, *FOLDERS, "<" * 7, ">" * 7, "=" * 7)  # a line with a fault has one, or BLANKS
TEXT = {
    ".hpp",
    ".cpp",
    ".py",
    ".cmake",
    ".txt",
    ".md",
    ".json",
    ".sh",
    ".in",
    ".yml",
    ".expected",
    "",
}
NO_BLANK_CHECK = {
    ".md",
    ".txt",
    ".expected",
}  # two blanks at a line's end mean something in Markdown; shipped texts stay as they are
PROSE = (
    "examples/word_count/texts",
)  # shipped literature: only conflict marks would be wrong there; a fuzzer's inputs are any bytes

# part: (`what` and `who`, `nobody` and `somebody`), the most per thousand words. They only fall.
LIMITS = {
    "": (2.0, 0.5),  # each part that is not named below
}
WORST, SHOWN = 3, 120  # lines shown of a part above a limit, and their length

HIDING = {
    "what/who": re.compile(r"\b(what(ever)?|who(m|se|ever)?)\b", re.I),
    "nobody/somebody": re.compile(r"\b(no|some)body\b", re.I),
}
# A sentence must not begin with these words, unless it is a question; the lower-case ones are those
# behind a colon or a semicolon. `That` and `One` may stand before a noun, so the next word decides.
NO_NOUN = (
    "is was has had does did are were can could may might must will would should holds means takes"
    " makes costs counts ends happens shows gives saves keeps needs bounds lets"
    " places applies a an the"
).replace(" ", "|")
RIDDLE = re.compile(
    r"\b([Ww]hat(ever)?|[Ww]ho(se|ever)?|Those (that|which|who)|That('s| (" + NO_NOUN + r"))"
    r"|One (that|which|who|" + NO_NOUN + r"))\b(?![^.!?]*\?)"
)
MARKS = re.compile(r'([\s/#*>|"<_(-]|\d+\.)*')  # they may stand in front of a line's first word
LISTED = re.compile(r"\s*(//+|#)?\s*(<|[-*|>#]|\d+\.)\s")
WORD = re.compile(r"[A-Za-z][A-Za-z']*")
QUOTED = re.compile(r"`[^`\n]*`")
BEFORE_TEST_NAME = re.compile(r"\b(TEST_CASE\w*|SUBCASE)\s*\(\s*(\w+\s*,\s*)?\Z")
READ_BY_A_TOOL = re.compile(r"// (expect|each|only|max-lines):")
PYTHON_TOKEN = re.compile(
    r'#[^\n]*|"""(?:\\.|[^\\])*?"""|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.S
)
PYTHON_BEFORE_DOCSTRING = re.compile(r":\s*\Z|\A(\s*#[^\n]*\n)*\s*\Z")
SCRIPT_TOKEN = re.compile(r'(?<!\S)#[^\n]*|"(?:\\.|[^"\\])*"', re.S)


def check_line(line: str, suffix: str) -> str | None:
    if CONFLICT.match(line):
        return "a conflict mark"
    if found := UNFINISHED.search(line):
        return f"{found.group(0)}: finish it or open an issue"
    if found := MACHINE_PATH.search(line):
        return f"{found.group(0)} is a path of one machine"
    if suffix not in NO_BLANK_CHECK and BLANKS.search(line):
        return "a tab or a blank at the end"
    return None


def check_file(name: str, data: bytes) -> list[str]:
    if b"\0" in data or name.startswith(PROSE) or Path(name).parent.suffix == ".fuzz":
        return []
    suffix = Path(name).suffix
    text = data.decode("utf-8", errors="replace")
    problems = []
    if any(word in text for word in SUSPECT) or BLANKS.search(text):
        for number, line in enumerate(text.split("\n"), 1):
            if problem := check_line(line, suffix):
                problems.append(f"{name}:{number}: {problem}")
    if text and not text.endswith("\n"):
        problems.append(f"{name}: no end of line at the end of the file")
    return problems


def in_lines(tokens, text: str):
    """(line, its text) of each line of the tokens, which are in order."""
    line, end = 1, 0
    for token in tokens:
        line += text.count("\n", end, token.start())
        end = token.start()
        for further, part in enumerate(token.group(0).split("\n")):
            yield line + further, part


def markdown_lines(text: str):
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.lstrip().startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, line


def is_python_prose(text: str, token: re.Match) -> bool:
    return token.group(0).startswith("#") or (
        token.group(0).startswith('"""')
        and bool(PYTHON_BEFORE_DOCSTRING.search(text[max(0, token.start() - 2000) : token.start()]))
    )


def cpp_prose(text: str):
    """The comments and the names of test cases among the tokens of the text, in their order."""
    name_end = 0  # behind the last part of a name
    for token in CPP_TOKEN.finditer(text):
        first, begin = token.group(0)[0], token.start()
        if first == '"' and (
            (name_end != 0 and text[name_end:begin].isspace())
            or BEFORE_TEST_NAME.search(text, max(0, begin - 100), begin)
        ):
            name_end = token.end()
            yield token
        elif first == "/":
            yield token


def prose_of(path: Path, text: str):
    """(line, text) of each line of prose in a file: comments, names of test cases, docstrings,
    Markdown.
    """
    if path.suffix in (".hpp", ".cpp"):
        return (l for l in in_lines(cpp_prose(text), text) if not READ_BY_A_TOOL.match(l[1]))
    if path.suffix == ".md":
        return markdown_lines(text)
    if path.suffix == ".py":
        return in_lines((t for t in PYTHON_TOKEN.finditer(text) if is_python_prose(text, t)), text)
    if path.suffix in (".cmake", ".sh") or path.name == "CMakeLists.txt" or text.startswith("#!"):
        comments = (t for t in SCRIPT_TOKEN.finditer(text) if t.group(0).startswith("#"))
        return in_lines(comments, text)
    return ()


def riddles(path: Path, text: str) -> list[str]:
    """The sentences that begin with a riddle."""
    found, last, ended = [], 0, True
    for number, line in prose_of(path, text):
        prose = QUOTED.sub(lambda code: "x" * len(code.group(0)), line)
        starts = ended or number > last + 1 or LISTED.match(prose)
        for match in RIDDLE.finditer(prose):
            before = prose[: match.start()]
            if MARKS.fullmatch(before):
                begins = starts and match.group(0)[0].isupper()
            else:
                ends = ".!?:;|" if match.group(0)[0].isupper() else ":;"
                begins = before.rstrip(' *_("')[-1:] in tuple(ends)
            if begins:
                shown = excerpt(line, match.start())
                found.append(f"{path}:{number}: a sentence begins with {match.group(0)}: {shown}")
        last, ended = number, prose.rstrip(' *_)"/').endswith((".", "!", "?", ":", ";"))
        ended = ended or MARKS.fullmatch(prose) is not None
    return found


def part_of(path: Path) -> str:
    folders = path.parts[:-1]
    if not folders:
        return path.name if path.suffix == ".md" else "the root"
    return "/".join(folders[:2] if folders[0] in ("lib", "tests", "docs") else folders[:1])


def excerpt(line: str, at: int) -> str:
    """At most SHOWN characters of the line, around the place."""
    first = max(0, min(at - SHOWN // 2, len(line) - SHOWN))
    shown = line[first : first + SHOWN].strip()
    return ("…" if first > 0 else "") + shown + ("…" if first + SHOWN < len(line) else "")


class part_count:
    """The words of one part, and the lines in which words of HIDING stand."""

    def __init__(self):
        self.words = 0
        self.lines = {kind: [] for kind in HIDING}  # (how many, place and text)

    def add(self, path: Path, text: str) -> None:
        for number, line in prose_of(path, text):
            prose = QUOTED.sub(lambda code: " " * len(code.group(0)), line)
            self.words += len(WORD.findall(prose))
            for kind, pattern in HIDING.items():
                if found := [match.start() for match in pattern.finditer(prose)]:
                    shown = f"{path}:{number}: {excerpt(line, found[0])}"
                    self.lines[kind].append((len(found), shown))

    def problems(self, part: str, limits: tuple[float, float]) -> list[str]:
        found = []
        for (kind, lines), limit in zip(self.lines.items(), limits):
            count = sum(line[0] for line in lines)
            if count * 1000 > limit * self.words:
                worst = sorted(lines, key=lambda line: -line[0])[:WORST]
                found.append(
                    f"{part}: {kind} {1000 * count / self.words:.2f} per thousand words "
                    f"({count} of {self.words}), the limit is {limit}; for example"
                    + "".join(f"\n  {shown}" for _, shown in worst)
                )
        return found


def check_rates(texts: list[tuple[Path, str]], limits: dict) -> list[str]:
    parts = defaultdict(part_count)
    for path, text in texts:
        parts[part_of(path)].add(path, text)
    return [
        problem
        for part, count in sorted(parts.items())
        for problem in count.problems(part, limits.get(part, limits[""]))
    ]


def check(root: Path, limits: dict = LIMITS) -> list[str]:
    problems, texts = [], []
    for path in all_files(root):
        if path.suffix in TEXT:
            data = (root / path).read_bytes()
            problems += check_file(str(path), data)
            if not str(path).startswith(PROSE):
                texts.append((path, data.decode("utf-8", errors="replace")))
                problems += riddles(*texts[-1])
    return problems + check_rates(texts, limits)


if __name__ == "__main__":
    run("words", check)
