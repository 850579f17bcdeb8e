"""Proves that each rule of words.py can fail."""

import re
import unittest
from pathlib import Path

import words
from temporary_tree import Tree


class words_test(Tree):
    def test_unfinished_paths_conflicts_blanks(self):
        self.write("a.cpp", "// TO" "DO: later\n")
        self.write("b.md", "see /ho" "me/somebody/garrick\n")
        self.write("c.txt", "<" * 7 + " mine\n")
        self.write("d.cpp", "int x; \n\tint y;\n")
        self.write("e.hpp", "int x;")
        self.assert_complains(
            words.check,
            "a.cpp:1: TO" "DO",
            "b.md:1: /ho" "me",
            "c.txt:1: a conflict",
            "d.cpp:1: a tab",
            "d.cpp:2",
            "e.hpp: no end",
        )

    def test_ordinary_text(self):
        self.write(
            "a.md", "A todolist, a path such as lib/work/x and `https://example.org/home/x`.  \n"
        )
        self.write("b.cpp", "int x;\n")
        self.assert_clean(words.check)

    @staticmethod
    def riddles(path: str, text: str) -> list[tuple[str, str]]:
        """(line, first words) of each sentence that is refused."""
        begins = re.compile(r".*?:(\d+): a sentence begins with (.*?): ")
        return [begins.match(problem).groups() for problem in words.riddles(Path(path), text)]

    def test_sentences_that_begin_with_a_riddle(self):
        for path, text, expected in (
            ("a.cpp", "// It waits. Who asks, waits.\n", [("1", "Who")]),
            ("a.cpp", "// It is\n// full.\n// What waits is\n", [("3", "What")]),
            ("a.cpp", "int x;  ///< one. That holds, too.\n", [("1", "That holds")]),
            ("a.cpp", "/// - One that waits; who asks waits\n", [("1", "One that"), ("1", "who")]),
            ("a.md", "## What it costs\n\n- Whose it is.\n", [("1", "What"), ("3", "Whose")]),
            ("a.md", "Two rest. *That is* all.\n| `a` | Whoever asks |\n",
             [("1", "That is"), ("2", "Whoever")]),
            ("a.py", '"""Those that wait."""\n', [("1", "Those that")]),
            ("CMakeLists.txt", "# Parsers: what they parse is fuzzed.\n", [("1", "what")]),
        ):  # fmt: skip
            self.assertEqual(self.riddles(path, text), expected, text)
        self.write("a.md", "What is here.\n")
        self.assert_complains(words.check, "a.md:1: a sentence begins with What: What is here.")

    def test_sentences_that_begin_with_a_noun_or_ask(self):
        for path, text in (
            ("a.cpp", "// That order is one of causes. One item is a pair; one is enough.\n"),
            ("a.cpp", "// The actor\n// Who names (`Who`. `What` is a name) has that. It is one\n"),
            ("a.cpp", "// It waits. Who asks? What waits, and who?\n"),
            ("a.cpp", 'auto a = "It waits. What waits";\n// expect: What waits\n'),
            ("a.md", "A queue.\n```\nWhat waits.\n```\n"),
        ):
            self.assertEqual(self.riddles(path, text), [], text)

    FILLER = "//" + " the sender waits" * 5 + "\n"  # 15 words

    def test_a_part_above_its_limit_names_rate_limit_and_worst_lines(self):
        self.write(
            "lib/core/a.hpp",
            "// Who has it?\n// What is here, and what there?\nint x;  // whatever\n/* Whom\n */\n"
            + self.FILLER * 6,
        )
        self.write("lib/core/README.md", "Nobody and somebody.\n")
        self.assertEqual(
            words.check(self.root, {"": (2.0, 0.5)}),
            [
                "lib/core: what/who 48.08 per thousand words (5 of 104), the limit is 2.0; for "
                "example\n  lib/core/a.hpp:2: // What is here, and what there?"
                "\n  lib/core/a.hpp:1: // Who has it?\n  lib/core/a.hpp:3: // whatever",
                "lib/core: nobody/somebody 19.23 per thousand words (2 of 104), the limit is 0.5; "
                "for example\n  lib/core/README.md:1: Nobody and somebody.",
            ],
        )
        self.assertEqual(words.check(self.root, {"": (2.0, 0.5), "lib/core": (48.1, 19.3)}), [])

    def test_each_part_is_counted_by_itself(self):
        self.write("lib/base/a.hpp", self.FILLER * 100)
        for page in ("README.md", "docs/papers.md", "docs/guide/01.md", "tests/net/README.md"):
            self.write(page, "It waits for nobody.\n")
        found = words.check(self.root, {"": (2.0, 0.5), "docs": (0.0, 250.0)})
        parts = [problem.split(":")[0] for problem in found]
        self.assertEqual(parts, ["README.md", "docs/guide", "tests/net"])

    def test_a_long_line_is_cut_around_its_word(self):
        self.write("README.md", "word " * 100 + "nobody" + " word" * 100 + "\n")
        self.assertIn("README.md:1: …word", words.check(self.root)[0])
        self.assertRegex(words.check(self.root)[0], "(?s)\n.{1,150}nobody.{1,80}…$")

    def test_comments_and_docstrings_of_tools_count(self):
        self.write("tools/a.py", '"""Who?"""\n')
        self.write("cmake/a.cmake", 'set(a "# who")  # who\n')
        self.write("bench/a.py", 'def f(x):\n    """Nobody."""  # it\'s who?\n')
        self.assertEqual(
            [p.split(" per ")[0] for p in words.check(self.root)],
            [
                "bench: what/who 333.33",
                "bench: nobody/somebody 333.33",
                "cmake: what/who 1000.00",
                "tools: what/who 1000.00",
            ],
        )

    def test_names_of_test_cases_count(self):
        self.write(
            "tests/core/a.test.cpp",
            'TEST_CASE("who waits") {\n  SUBCASE("for nobody") { f("who"), g(h, "what"); }\n}\n'
            'TEST_CASE_FIXTURE(fixture,\n    "a long name of what"  "ever" "is, or who is")\n'
            '{ f(); "who"; }  // TEST_CASE("what")\nTEST_CASE_TEMPLATE("who", T, int) {}\n',
        )
        self.assertEqual(
            [(p.split(" per ")[0], p.split("(")[1].split(")")[0]) for p in words.check(self.root)],
            [
                ("tests/core: what/who 277.78", "5 of 18"),
                ("tests/core: nobody/somebody 55.56", "1 of 18"),
            ],
        )

    def test_code_strings_and_texts_read_by_a_tool_do_not_count(self):
        self.write("lib/a/a.cpp", 'auto what = R"(// who)" "// nobody";  // `what` of whole\n')
        self.write("tests/compile_fail/a.cpp", "// expect: what nobody\n// each: who what\n")
        self.write("README.md", "A `what`.\n\n```cpp\nx;  // who\n```\n")
        self.write("tools/a.py", 'who = """what"""\nf(\n    """\n    nobody\n    """\n)\n')
        self.assert_clean(words.check)


if __name__ == "__main__":
    unittest.main()
