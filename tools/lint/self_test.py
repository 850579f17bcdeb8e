#!/usr/bin/env python3
"""Proves that each lint can fail: plants a violation in a temporary tree and looks for the
complaint, then repairs it and looks for none.
"""

import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "docs"), str(HERE.parent / "test")]

import compile_fail
import contracts
import left_out
import memory_order
import planted
import scarce
import sizes
import skipped
import usage
from docs_self_test import (  # noqa: F401 (unittest finds them here)
    links_test,
    pictures_test,
    reference_test,
    search_test,
    site_test,
    snippets_test,
)
from gpu_waits_self_test import gpu_waits_test  # noqa: F401 (unittest finds it here)
from layering_self_test import layering_test  # noqa: F401 (unittest finds it here)
from temporary_tree import HEADER, Tree
from words_self_test import words_test  # noqa: F401 (unittest finds it here)


class memory_order_test(Tree):
    def test_an_order_without_a_reason(self):
        self.write(
            "lib/base/garrick/base/a.hpp",
            "auto x = a.load(std::memory_order_acquire);\nb.load(std::memory_order::relaxed);\n",
        )
        self.assert_complains(memory_order.check, "a.hpp:1: acquire", "a.hpp:2: relaxed")

    def test_reasons_that_count(self):
        self.write(
            "lib/base/garrick/base/a.hpp",
            "// order: pairs with push\nauto x = a.load(std::memory_order_acquire);\n"
            "\n\n\nb.load(std::memory_order_relaxed);  // order: statistics only\n"
            "// memory_order_acquire is a word here\n",
        )
        self.assert_clean(memory_order.check)

    def test_a_reason_too_far_away_or_empty(self):
        self.write(
            "lib/base/garrick/base/a.hpp",
            "// order: pairs with push\n\n// far\n\n\n\n"
            "auto x = a.load(std::memory_order_acquire);\n",
        )
        self.write(
            "lib/base/garrick/base/b.hpp",
            "auto x = a.load(std::memory_order_acquire);  // order:\n",
        )
        self.assert_complains(memory_order.check, "a.hpp:7", "b.hpp:1")


class sizes_test(Tree):
    def test_long_file_function_and_folder(self):
        self.write("lib/a.cpp", "int x;\n" * 601)
        self.write(
            "lib/b.cpp",
            "namespace n {\nvoid* f(int a = 1)\n  requires true {\n"
            + "  g([] { h(); });\n" * 69
            + "}\n}\n",
        )
        self.write("lib/c.py", "def f():\n" + "    pass\n" * 70)
        for number in range(41):
            self.write(f"lib/many/{number}.txt", "x\n")
        self.assert_complains(
            sizes.check,
            "a.cpp:1: 601 lines",
            "b.cpp:2: f has 72 lines",
            "c.py:1: f has 71 lines",
            "lib/many: 41 files",
        )

    def test_a_folder_has_no_excuse(self):
        for number in range(41):
            self.write(f"lib/a/garrick/a/{number}.txt", "x\n")
        self.write("lib/a/README.md", "<!-- many files: they are small -->\n")
        self.assert_complains(sizes.check, "lib/a/garrick/a: 41 files")

    def test_rooms_in_a_row_are_smaller(self):
        room = "lib/core/garrick/core/cell/"
        for i in range(25):
            self.write(f"{room}a{i}.hpp", "// 1\n" * (501 if i == 7 else 500))
        self.write(room + "a.test.cpp", "// 1\n" * 501)
        self.assert_complains(sizes.check, "a7.hpp:1: 501 lines, the limit is 500 in this room")
        self.write(room + "internal/a.hpp", "// 1\n")
        self.assert_complains(sizes.check, "cell: 26 sources", "a7.hpp:1: 501 lines")

    def test_each_folder_of_net_is_a_room_of_its_own(self):
        room = "lib/net/garrick/net/layer/"
        for i in range(25):
            self.write(f"{room}a{i}.cpp", "// 1\n" * 500)
            self.write(f"{room}internal/a{i}.hpp", "// 1\n")
        self.write(room + "a.fuzz.cpp", "// 1\n" * 501)
        self.write(room + "fuzzed/peers.hpp", "// 1\n" * 501)
        self.write("lib/system/garrick/system/a.cpp", "// 1\n" * 501)
        self.assert_clean(sizes.check)
        self.write(room + "internal/b.cpp", "// 1\n" * 501)
        self.assert_complains(
            sizes.check, "b.cpp:1: 501 lines", "layer/internal: 26 sources, the limit is 25"
        )

    def test_a_wide_line(self):
        self.write("lib/a.cpp", "// " + "€" * 98 + "\nint " + "x" * 98 + ";\n")
        self.assert_complains(sizes.check, "a.cpp:1: 101 columns", "a.cpp:2: 103 columns")

    def test_a_wide_line_of_python_even_if_it_is_a_string(self):
        self.write("tools/a.py", "# " + "€" * 98 + "\n# " + "€" * 99 + '\ns = "' + "x" * 95 + '"\n')
        limit = "101 columns, the limit is 100"
        self.assertEqual(
            sizes.check(self.root), [f"tools/a.py:2: {limit}", f"tools/a.py:3: {limit}"]
        )

    def test_a_line_of_full_width_strings_and_expectations(self):
        self.write("lib/a.cpp", "// " + "€" * 97 + '\nauto s = "' + "x" * 120 + '";\n')
        self.write("lib/b.cpp", 'auto s = R"(' + "x" * 120 + "\n" + "x" * 120 + ')";\n')
        self.write("tests/compile_fail/c.cpp", "// expect: " + "x" * 100 + "\n")
        self.assert_clean(sizes.check)

    def test_an_assignment_operator_is_a_function(self):
        self.write(
            "lib/b.cpp",
            "struct s {\ns& operator=(const s&) {\n" + "  if (x) { y(); }\n" * 70 + "}\n};\n",
        )
        self.assert_complains(sizes.check, "b.cpp:2: operator= has 72 lines")

    def test_at_the_limit_or_with_an_excuse(self):
        self.write("lib/a.cpp", "int x;\n" * 600)
        self.write(
            "lib/b.cpp",
            "void f() {\n"
            + "  g();\n" * 68
            + "}\nclass c {\n"
            + "  int f() { return 1; }\n" * 100
            + "};\n",
        )
        self.write("lib/c.cpp", "// long: one table\n" + "int x;\n" * 601)
        self.write(
            "lib/d.cpp", "// long: a switch over all states\nvoid f() {\n" + "  g();\n" * 90 + "}\n"
        )
        self.assert_clean(sizes.check)

    def test_long_pages(self):
        pages = {
            "CHANGELOG.md": ("- an entry\n", 80, "lines", "join entries"),
            "README.md": ("word\n", 700, "words", "leave details to the guide"),
            "docs/guide/01-a.md": ("two words\n", 1000, "words", "a fine-print page"),
            "docs/decisions/0001-a.md": ("word ", 700, "words", "docs/internals"),
        }
        for page, (text, times, _, _) in pages.items():
            self.write(page, text * times)
        self.write("docs/internals/a.md", "word\n" * 9000)
        self.write("lib/a/README.md", "word\n" * 9000)
        self.assert_clean(sizes.check)
        for page, (text, times, unit, way_out) in pages.items():
            self.write(page, text * (times + 1))
            (problem,) = sizes.check(self.root)
            more = (times + 1) * (len(text.split()) if unit == "words" else 1)
            self.assertIn(f"{page}: {more} {unit}, the limit is ", problem)
            self.assertIn(way_out, problem)
            self.write(page, text * times)


class left_out_test(Tree):
    def with_reasons_for(self, *tests: str) -> None:
        names = ", ".join(f'"{test}"' for test in tests)
        self.write("tools/test/skipped.toml", f'[[allowed]]\nreason = "so"\ntests = [{names}]\n')

    def test_a_case_that_steps_aside_without_a_reason(self):
        self.write(
            "tests/a.test.cpp",
            'TEST_CASE("no memory, "\n "twice" * doctest::skip(HAS_SANITIZER)) {\n}\n'
            'TEST_CASE("a part" * doctest::skip()) {\n}\n',
        )
        self.with_reasons_for()
        self.assert_complains(
            left_out.check, "a.test.cpp:1: 'no memory, twice'", "a.test.cpp:4: 'a part'"
        )
        self.with_reasons_for("no memory, twice", "a part")
        self.assert_clean(left_out.check)

    def test_a_reason_for_a_case_that_is_gone(self):
        self.write(
            "tests/a.test.cpp",
            'TEST_CASE("it runs") {\n}\nTEST_CASE("slow" * doctest::skip(IS_EMULATED)) {\n}\n',
        )
        self.with_reasons_for("no memory", "it runs", "tests.net.streams")
        self.assert_complains(left_out.check, "there is no test 'no memory'")
        self.with_reasons_for("it runs", "tests.net.streams")
        self.assert_clean(left_out.check)


class planted_test(Tree):
    def planted(self, old: str, *tests: str, equivalent: str = "") -> list[str]:
        error = planted.mutation("an error", "lib/core/a.hpp", old, "", tests, equivalent)
        return planted.check(self.root, [error])

    def test_its_text_is_there_once(self):
        self.write("lib/core/garrick/core/a.model.cpp", "")
        self.assertIn("there is no lib/core/a.hpp", self.planted("one", "core.model.a")[0])
        self.write("lib/core/a.hpp", "one two two\n")
        self.assertEqual(self.planted("one", "core.model.a"), [])
        self.assertIn("its text is 0 times in", self.planted("three", "core.model.a")[0])
        self.assertIn("its text is 2 times in", self.planted("two", "core.model.a")[0])

    def test_its_tests_exist(self):
        self.write("lib/core/a.hpp", "one\n")
        self.write("lib/core/garrick/core/a.test.cpp", "")
        self.write("tests/core/b.test.cpp", "")
        self.assertEqual(self.planted("one", "core.a", "tests.b"), [])
        self.assertIn("would be a b.test.cpp in lib/core", self.planted("one", "core.b")[0])
        self.assertIn("would be a a.model.cpp", self.planted("one", "core.model.a")[0])
        self.assertIn("it has no test", self.planted("one")[0])
        self.assertEqual(self.planted("one", equivalent="it only saves time"), [])


class format_test(Tree):
    def test_bad_and_good_format(self):
        if shutil.which("clang-format-19") is None:
            self.skipTest("clang-format-19 is not installed")
        shutil.copy(HERE.parents[1] / ".clang-format", self.root)
        self.write("lib/a.cpp", "int   f( ){return 1;}\n")
        command = [sys.executable, str(HERE / "format.py"), "--root", str(self.root)]
        self.assertNotEqual(subprocess.run(command, capture_output=True).returncode, 0)
        subprocess.run([*command, "--fix"], check=True, capture_output=True)
        self.assertEqual(subprocess.run(command, capture_output=True).returncode, 0)


class compile_fail_test(unittest.TestCase):
    def test_judgement(self):
        judge = compile_fail.judge
        self.assertEqual(judge([["not sendable"]], 15, 1, "x.cpp: error: not sendable\n"), [])
        self.assertEqual(judge([["no", "not sendable"]], 1, 1, "x.cpp: error: not sendable\n"), [])
        self.assertIn("must not", judge([["not sendable"]], 15, 0, "")[0])
        self.assertIn("does not contain", judge([["not sendable"]], 15, 1, "error: missing ;\n")[0])
        self.assertIn("limit is 3", judge([["deep"]], 3, 1, "deep\n" + "note\n" * 3)[0])

    def test_directives(self):
        directives = compile_fail.directives
        self.assertEqual(
            directives(
                "// expect: a b|a\n// max-lines: gcc 40: why\n// expect: c\nint x;\n// expect: d\n"
            ),
            ([["a b", "a"], ["c"]], {"gcc": 40}, [], []),
        )
        self.assertEqual(
            directives("// expect: {}\n// each: one two\n"), ([["{}"]], {}, ["one", "two"], [])
        )
        self.assertIn(
            "an exception is written", directives("// expect: a\n// max-lines: 40\n")[3][0]
        )
        self.assertIn(
            "an exception is written", directives("// expect: a\n// max-lines: clang 40:\n")[3][0]
        )
        self.assertIn("must open", directives("int x;\n")[3][0])
        self.assertIn("one compiler", directives("// expect: a\n// only: g++: why\n")[3][0])

    def test_the_compiler_is_really_asked(self):
        compiler = shutil.which("g++") or shutil.which("clang++-19")
        if compiler is None:
            self.skipTest("no compiler")
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "x.cpp"
            command = [sys.executable, str(HERE / "compile_fail.py"), str(file), "--", compiler]
            other = "gcc" if "clang" in compiler else "clang"
            each = "// expect: {}\n// each: one two\n" + "".join(
                f"#ifndef GARRICK_WITHOUT_{n}\nint {n};\n#endif\n" for n in ("one", "two")
            )
            bad = (
                '// expect: pointers\n'
                'template <class T> void f() { static_assert(sizeof(T) == 0, "pointers"); }\n'
            )
            for text, status in (
                (bad + "void g() { f<int>(); }\n", 0),
                ("// expect: pointers\nint x;\n", 1),
                (bad + "#ifndef GARRICK_CONTROL\nvoid g() { f<int>(); }\n#endif\n", 0),
                (bad + "void g() { f<int>(); }\n// GARRICK_CONTROL\n", 1),
                (each + "int g() { return one + two; }\n", 0),
                (f"// only: {other}: why\n// expect: pointers\nint x;\n", 0),
                (f"// only: {other}: why\n" + bad + "void g() { f<int>(); }\n", 1),
                (each + "int g() { return one; }\n", 1),
                (each + "int g() { return one + two + three; }\n", 1),
            ):
                file.write_text(text)
                self.assertEqual(
                    subprocess.run(command, capture_output=True).returncode, status, text
                )


class contracts_test(Tree):
    def setUp(self):
        super().setUp()
        if shutil.which("doxygen") is None:
            self.skipTest("no doxygen")
        self.write("lib/system/garrick/garrick.hpp", "using core::thing;\n")

    def header(self, path: str, text: str) -> None:
        self.write(
            f"lib/core/garrick/core/{path}", f"{HEADER}namespace garrick::core {{\n{text}}}\n"
        )

    def test_names_without_a_contract(self):
        self.header("cell/base.hpp", "/// x\nstruct base { void inherited(); };\nstruct mine {};\n")
        self.header("thing.hpp", "struct thing : base {\n  int size;\n};\nvoid other();\n")
        self.assert_complains(
            lambda root: contracts.check(root, {"core": (2, 0)}),
            "thing.hpp:3: garrick::core::thing has no contract",
            "thing.hpp:4: garrick::core::thing::size has no contract",
            "cell/base.hpp:4: garrick::core::base::inherited has no contract",
            "lib/core: 3 exported names without a contract; the limit is 2",
            "lib/core: 1 other names without a contract; the limit is 0",
        )
        self.assertEqual(contracts.check(self.root, {"core": (3, 1)}), [])

    def test_what_needs_none(self):
        self.header("internal/hidden.hpp", "struct hidden {};\n")
        self.header("detail/hidden.hpp", "namespace detail { struct hidden_as_well {}; }\n")
        self.header(
            "thing.hpp",
            "/// x\nstruct thing {\n  using garrick_sendable = void;\n"
            "  thing();\n  thing(thing&&);\n  ~thing();\n  bool operator==(const thing&) const;\n"
            " private:\n  int size;\n};\n"
            "/// For the framework: x\nstruct access { int size; };\n",
        )
        self.assertEqual(contracts.check(self.root, {}), [])

    def test_what_doxygen_complains_about(self):
        self.header("thing.hpp", "/// x\nstruct thing {\n  /// @param b x\n  void f(int a);\n};\n")
        self.assert_complains(
            lambda root: contracts.check(root, {}), "thing.hpp:5: warning: argument 'b'"
        )

    def test_a_contract_that_begins_with_a_riddle(self):
        self.header(
            "thing.hpp",
            "/// Who waits.\nstruct thing {\n  int a;  ///< what it holds\n"
            "  /// That wait is over.\n  void f();\n  /// One of several.\n  void g();\n"
            "  /// Nobody calls it.\n  void h();\n};\n",
        )
        self.header("internal/hidden.hpp", "/// What it is.\nstruct hidden {};\n")
        problems = contracts.check(self.root, {})
        for line, word in ((3, "Who"), (5, "what"), (6, "That"), (8, "One"), (10, "Nobody")):
            self.assertIn(
                f"lib/core/garrick/core/thing.hpp:{line}: a contract begins with its subject, "
                f"not with `{word}`",
                problems,
            )
        self.assertEqual(len(problems), 5)

    def test_contracts_with_a_subject(self):
        self.header(
            "thing.hpp",
            "/// The text\n/// Who of it.\nstruct thing {\n  int a;  ///< that have run\n"
            "  /// One thread reads it.\n  int b;\n  int c;  ///< one line, for people\n};\n",
        )
        self.assertEqual(contracts.check(self.root, {}), [])

    def test_a_return_value_that_is_not_told(self):
        self.header(
            "thing.hpp",
            "/// A thing.\nclass [[nodiscard]] thing {\n public:\n"
            "  /// Its size,\n  /// in bytes.\n  template <class T>\n    requires(true)\n"
            "  [[nodiscard]] int size() const;\n"
            "  /// Compares both.\n  [[nodiscard]] friend bool operator==(thing, thing);\n};\n",
        )
        text = "the contract of a [[nodiscard]] function tells its return value with `Returns`"
        self.assertEqual(
            contracts.check(self.root, {}),
            [f"lib/core/garrick/core/thing.hpp:{line}: {text}" for line in (10, 12)],
        )

    def test_return_values_that_are_told(self):
        self.header(
            "thing.hpp",
            "/// A thing.\nstruct thing {\n  /// Counts the\n  /// parts, and returns the sum.\n"
            "  [[nodiscard]] int sum();\n  /// The same.\n  [[nodiscard]] int again();\n"
            "  /// This overload refuses a name.\n  [[nodiscard]] int again(char);\n"
            "  [[nodiscard]] int parts();  ///< in it\n  /// Makes it.\n  void f();\n};\n",
        )
        self.header("internal/hidden.hpp", "/// The size.\n[[nodiscard]] int size();\n")
        self.assertEqual(contracts.check(self.root, {}), [])


class expect_output_test(Tree):
    def test_same_and_other_output(self):
        self.write("expected", "one\ntwo\n")
        run = [
            sys.executable,
            str(HERE.parent / "test" / "expect_output.py"),
            str(self.root / "expected"),
            "printf",
        ]
        self.assertEqual(subprocess.run([*run, "one\\ntwo\\n"], capture_output=True).returncode, 0)
        other = subprocess.run([*run, "one\\n2\\n"], capture_output=True, text=True)
        self.assertEqual(other.returncode, 1)
        self.assertIn("+2", other.stdout)


class scarce_test(unittest.TestCase):
    def test_an_end_by_a_signal_a_wrong_status_or_silence_is_found(self):
        sentence = "word_count: not enough memory; the result is incomplete"
        self.assertEqual(scarce.complaint("memory", 1, sentence), "")
        self.assertIn("-6", scarce.complaint("memory", -6, sentence))
        self.assertIn("ended with 0", scarce.complaint("disk", 0, "No space left on device"))
        self.assertIn("name nothing", scarce.complaint("memory", 1, "terminate called"))
        self.assertIn("incomplete", scarce.complaint("disk", 1, "No space left on device"))


class usage_test(unittest.TestCase):
    def test_a_missing_a_wide_and_another_usage_are_found(self):
        good = (0, "01_a ADDRESS\n", "")
        self.assertEqual(usage.complaint("01_a", [good, good]), "")
        for bad in (
            (1, "01_a ADDRESS\n", ""),
            (0, "serving at tcp://127.0.0.1:1\n", ""),
            (0, "01_a ADDRESS\n", "no such address"),
            (0, "01_a " + "x" * 80 + "\n", ""),
            (0, "01_a OTHER\n", ""),
        ):
            self.assertNotEqual(usage.complaint("01_a", [good, bad]), "")

    def test_an_answer_to_an_unknown_word(self):
        text = "01_a               both sides\n01_a serve ADDRESS\n"
        self.assertTrue(usage.takes_words("01_a", text))
        self.assertFalse(usage.takes_words("01_a", "01_a   both\n01_a ADDRESS\n01_a --report\n"))
        self.assertEqual(usage.complaint_of_word("01_a", text, (2, "", text)), "")
        for bad in ((0, "", text), (2, text, ""), (2, "", "what?\n")):
            self.assertNotEqual(usage.complaint_of_word("01_a", text, bad), "")


class dev_test(unittest.TestCase):
    def run_dev(self, *arguments: str):
        return subprocess.run(
            [HERE.parents[1] / "dev", *arguments], capture_output=True, text=True
        )

    def test_an_unknown_command_is_named_in_one_line(self):
        for command in ("nonsense", "--nonsense", " "):
            done = self.run_dev(command)
            self.assertEqual(done.returncode, 2)
            self.assertEqual(done.stdout, "")
            self.assertEqual(
                done.stderr,
                f"dev: there is no command '{command}'; ./dev help lists the commands\n",
            )

    def test_the_help_has_a_line_for_every_command(self):
        text = (HERE.parents[1] / "dev").read_text(encoding="utf-8")
        listed = self.run_dev("help")
        self.assertEqual(listed.returncode, 0)
        self.assertEqual(self.run_dev().stdout, listed.stdout)
        for command in re.findall(r"^cmd_(\w+)\(\)", text, re.M):
            if command != "help":
                self.assertRegex(listed.stdout, rf"(?m)^\./dev {command}\b")


class skipped_test(unittest.TestCase):
    RULE = "=" * 79

    def of_log(self, *tests: tuple[str, str]):
        return skipped.of_log(
            "".join(
                f'1/9 Test: {name}\nCommand: "/b/{name}" "--source-file=*/x.cpp"\nDirectory: /b\n'
                f"Output:\n----\n{output}<end of output>\nTest time = 0.00 sec\n"
                for name, output in tests
            )
        )

    def case(self, name: str, *messages: str) -> str:
        lines = "".join(f"x.cpp:3: MESSAGE: {m}\n\n" for m in messages)
        return f"{self.RULE}\nx.cpp:1:\nTEST CASE:  {name}\n  a subcase\n\n{lines}"

    def test_finds_those_whose_output_says_so(self):
        said, programs = self.of_log(
            ("a", "[doctest] 3 | 2 skipped\n"),
            ("b", "skipped: no network\n"),
        )
        self.assertEqual(said, {"b": "no network"})
        self.assertEqual(programs, {"/b/a", "/b/b"})

    def test_what_a_case_says_counts_for_that_case_alone(self):
        said, _ = self.of_log(
            (
                "a",
                "skipped: before all\n"
                + self.case("one: a long name, with a comma", "skipped: no IPv6", "more")
                + self.case("two", "42 ns")
                + self.case("three", "skipped: no root", "skipped: no IPv6")
                + f"{self.RULE}\n[doctest] test cases: 3\n",
            )
        )
        self.assertEqual(
            said,
            {
                "a": "before all",
                "one: a long name, with a comma": "no IPv6",
                "three": "no root; no IPv6",
            },
        )


if __name__ == "__main__":
    unittest.main(argv=[arg for arg in sys.argv if arg != "--"])
