"""One error that mutate.py plants."""

from dataclasses import dataclass


@dataclass(frozen=True)
class mutation:
    name: str
    file: str
    old: str
    new: str
    tests: tuple[str, ...] = ()
    equivalent: str = ""
