"""A temporary project, in which a self-test plants errors for its lint to find."""

import shutil
import tempfile
import unittest
from pathlib import Path

HEADER = "#pragma once\n"


class Tree(unittest.TestCase):
    """A temporary project."""

    def setUp(self):
        self.root = Path(tempfile.mkdtemp(prefix="garrick-lint-"))
        self.addCleanup(shutil.rmtree, self.root)

    def write(self, path: str, text: str) -> None:
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def assert_complains(self, check, *texts: str) -> None:
        problems = "\n".join(check(self.root))
        for text in texts:
            self.assertIn(text, problems)

    def assert_clean(self, check) -> None:
        self.assertEqual(check(self.root), [])
