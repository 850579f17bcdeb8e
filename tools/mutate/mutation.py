"""One error that mutate.py plants, and the meaning of its fields."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class mutation:
    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...] = ()
    equivalent: str = ""


def misplaced(m: mutation, root: Path) -> str:
    """Empty, or why the mutation cannot be planted in the tree `root`."""
    path = root / m.file
    if not path.is_file():
        return f"there is no {m.file}"
    count = path.read_text(encoding="utf-8").count(m.old)
    return "" if count == 1 else f"its text is {count} times in {m.file}"


def is_model(test: str) -> bool:
    return ".model." in test


def stem_of(test: str) -> str:
    return test.rsplit(".", 1)[1]
