"""Proves that the checks of the documents and of the site can fail."""

import contextlib
import importlib.util
import io
import json
import shutil
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "docs"))

import api
import build_site
import declarations
import links
import pictures
import reference
import search
import snippets
from temporary_tree import HEADER, Tree


class snippets_test(Tree):
    SOURCE = "int before;\n// [part]\n  int x;\n  int y;\n// [/part]\nint after;\n"

    def test_equal_stale_and_fixed(self):
        self.write("examples/01_a.cpp", self.SOURCE)
        page = "# Guide\n<!-- snippet: examples/01_a.cpp#part -->\n```cpp\n{}\n```\nend\n"
        self.write("docs/guide/one.md", page.format("int x;\nint y;"))
        self.assert_clean(snippets.check)
        self.write("docs/guide/one.md", page.format("int x;"))
        self.assert_complains(snippets.check, "docs/guide/one.md:2: differs")
        with contextlib.redirect_stdout(io.StringIO()):
            snippets.fix(self.root)
        self.assert_clean(snippets.check)
        self.assertEqual(
            (self.root / "docs/guide/one.md").read_text(), page.format("int x;\nint y;")
        )

    def test_missing_source_name_or_fence(self):
        self.write("examples/01_a.cpp", self.SOURCE)
        self.write(
            "README.md",
            "<!-- snippet: examples/02_b.cpp -->\n```\n```\n"
            "<!-- snippet: examples/01_a.cpp#other -->\n```\n```\n"
            "<!-- snippet: examples/01_a.cpp -->\nno fence\n",
        )
        self.assert_complains(
            snippets.check,
            "README.md:1: there is no",
            "README.md:4: examples/01_a.cpp has no",
            "README.md:7: no fenced block",
        )

    def test_code_in_the_guide_without_a_source(self):
        self.write("docs/guide/one.md", "```cpp\nint x;\n```\n")
        self.assert_complains(
            snippets.check, "docs/guide/one.md:1: C++ that is not taken from a source"
        )


class links_test(Tree):
    def test_links(self):
        self.write(
            "a.md",
            "# One thing\n[b](docs/b.md#two-words) [self](#one-thing) [web](https://example.org) "
            "`[code](none.md)`\n"
            "```\n[code](none.md)\n```\n",
        )
        self.write("docs/b.md", "## Two `words`\n[up](../a.md)\n")
        self.assert_clean(links.check)
        self.write("docs/c.md", "[x](none.md) [y](b.md#three)\n![z](z.png)\n")
        self.assert_complains(
            links.check, "docs/c.md:1: none.md", "docs/c.md:1: b.md#three", "docs/c.md:2: z.png"
        )

    def test_links_of_installed_pages(self):
        self.write("docs/b.md", "# B\n")
        self.write("docs/guide/a.md", "[c](c.md)\n")
        self.write("docs/guide/c.md", "[e](../../examples/e.cpp)\n")
        self.write("examples/e.cpp", "int main() {}\n")
        self.assert_clean(links.check)
        self.write("docs/guide/d.md", "[b](../b.md)\n")
        self.assert_complains(links.check, "docs/guide/d.md:1: ../b.md: that is not installed")

    def test_names_in_installed_pages(self):
        self.write("examples/e.cpp", "int main() {}\n")
        self.write("lib/base/garrick/base/x.hpp", "")
        self.write(
            "docs/guide/a.md",
            "`examples/e.cpp` `<garrick/base/x.hpp>` lib/none\n"
            "`lib/base/README.md` of the repository\n```\n./dev test\n```\n",
        )
        self.write("docs/guide/b.md", "# B\n\nThe repository has all.\n\n## C\n\n`lib/base`\n")
        self.write("docs/b.md", "`lib/base`\n")
        self.assert_clean(links.check)
        self.write("docs/guide/c.md", "`examples/f.cpp`, or `./dev test`\n\n`garrick/base/y.hpp`\n")
        self.assert_complains(
            links.check,
            "docs/guide/c.md:1: examples/f.cpp: that is not installed",
            "docs/guide/c.md:1: ./dev: that is not installed",
            "docs/guide/c.md:3: garrick/base/y.hpp: that is not installed",
        )

    def test_pictures_of_installed_pages(self):
        self.write("docs/pictures/p.svg", "<svg/>\n")
        self.write("docs/q.svg", "<svg/>\n")
        self.write("docs/guide/a.md", "![p](../pictures/p.svg)\n")
        self.assert_clean(links.check)
        self.write("docs/guide/b.md", "![q](../q.svg)\n")
        self.assert_complains(links.check, "docs/guide/b.md:1: ../q.svg: that is not installed")


class pictures_test(Tree):
    PICTURE = (
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {0} 9"><title>x</title>'
        '<style>{1}</style><rect class="a"{2}/></svg>\n'
    )

    def test_a_chart_that_differs_from_its_data(self):
        data = {"title": "A < B", "bars": [["one & two", 20], ["none", 1.0]]}
        self.write("docs/pictures/style.css", "a\n")
        self.write("docs/pictures/a.json", json.dumps(data))
        self.assert_complains(pictures.check, "docs/pictures/a.svg: is not up to date")
        for ratio in (1.0, 2.0):
            data["bars"][1][1] = ratio
            self.write("docs/pictures/a.json", json.dumps(data))
            self.assert_complains(pictures.check, "docs/pictures/a.svg: is not up to date")
            text = pictures.wanted(self.root)[self.root / "docs/pictures/a.svg"]
            self.assertIn("A &lt; B", text)
            self.write("docs/pictures/a.svg", text)
            self.assert_clean(pictures.check)

    def test_a_picture_with_a_style_or_a_width_of_its_own(self):
        self.write("docs/pictures/style.css", "a\n")
        self.write("docs/pictures/p.svg", self.PICTURE.format(420, "\na\n", ""))
        self.assert_clean(pictures.check)
        for width, style, more, problem in (
            (420, "b", "", "is not up to date"),
            (421, "\na\n", "", "needs a viewBox that is at most 420"),
            (420, "\na\n", ' fill="red"', "takes colours from the classes"),
            (420, "\na\n", "<", "not well-formed"),
        ):
            self.write("docs/pictures/p.svg", self.PICTURE.format(width, style, more))
            self.assert_complains(pictures.check, f"docs/pictures/p.svg: {problem}")


class reference_test(Tree):
    def page(self, text: str) -> str:
        """The page of the reference for a header with this text."""
        if shutil.which("doxygen") is None:
            self.skipTest("no doxygen")
        self.write("lib/system/garrick/garrick.hpp", "using core::thing;\n")
        self.write("lib/core/garrick/core/thing.hpp", text)
        writer = api.writer(self.root, reference.load(self.root)[0])
        writer.write(self.root / "pages")
        return (self.root / "pages/api/core/thing.md").read_text(encoding="utf-8")

    def test_a_header(self):
        page = self.page(
            "// What it is for: a `thing` < all.\n//\n//   thing t;\n"
            + HEADER
            + "namespace garrick::core {\n"
            "/// Holds a `size`. Cheap.\nstruct thing {\n  int size = 3;  ///< in bytes\n"
            "  /// @returns what `thing::size` was\n  int grow(int by) noexcept;\n"
            "  thing(const thing& other);\n  ~thing();\n private:\n  int hidden_;\n};\n"
            "/// One, see `thing::~thing`.\nenum class mode { fast /** without checks */ };\n}\n"
        )
        for part in (
            "#include <garrick/core/thing.hpp>",
            "a `thing` &lt; all.",
            "```cpp\nthing t;\n```",
            "[`garrick::thing`](#thing)",
            "## thing { #thing }",
            "Holds a `size`. Cheap.",
            '<a id="thing.size"></a>`int size = 3`\n:   in bytes',
            "### grow() { #thing.grow }\n\n```cpp\nint grow(int by) noexcept;\n```",
            "**Returns:** what [`thing::size`](#thing.size) was",
            "thing(const thing& other);",
            "| `fast` | without checks |",
            "One, see [`thing::~thing`](#thing).",
        ):
            self.assertIn(part, page)
        self.assertNotIn("hidden_", page)
        index = (self.root / "pages/api/index.md").read_text(encoding="utf-8")
        self.assertIn(
            "| [`thing`](../api/core/thing.md#thing) | Holds a `size`. | [thing.hpp]", index
        )

    def test_a_comment_in_the_order_of_its_blocks(self):
        page = self.page(
            "// One.\n//\n//   int a;\n//\n//   int b;\n//\n//   one  1\n//   two  2\n"
            + HEADER
            + "namespace garrick::core {\n/// Before\n///\n///     f();\n///\n/// after.\n"
            "void f(int a);\nvoid g();\n/// Again.\nvoid f();\nstruct thing {};\n}\n"
        )
        self.assertIn("```cpp\nint a;\n\nint b;\n```\n\n```text\none  1\ntwo  2\n```", page)
        self.assertRegex(page, r"(?s)Before\n\n```cpp\nf\(\);\n```\n\nafter\..*Again\..*## g\(\)")

    def test_a_table_and_a_list_are_no_code(self):
        page = self.page(
            "// One:\n//\n//   void on();      the first; or\n//                   another one;\n"
            "//   void off();     the last;\n//\n"
            "//   f();            // one\n//   g();            // two\n//\n"
            "// Invariants\n// A1 Always\n//    so.\n// A2 So\n//    does f().\n"
            + HEADER
            + "namespace garrick::core {\nstruct thing {};\n}\n"
        )
        self.assertIn("```text\nvoid on();      the first; or\n", page)
        self.assertIn("```cpp\nf();            // one\n", page)
        self.assertIn("Invariants\n\n- A1 Always\nso.\n- A2 So\ndoes f().\n", page)

    def test_spaces_in_declarations(self):
        for written, wanted in (
            ("const ref< P > &to, Args &&... args", "const ref<P>& to, Args&&... args"),
            ("result< pair< A, B > > *", "result<pair<A, B>>*"),
            (
                "(sizeof...(Ts) > 0 && (is_same_v< A, B > && ...))",
                "(sizeof...(Ts) > 0 && (is_same_v<A, B> && ...))",
            ),
            ("a << 30", "a << 30"),
            ("f() == 0", "f() == 0"),
            ("() const =0", "() const = 0"),
        ):
            self.assertEqual(declarations.tidy(written), wanted)

    def test_long_declarations(self):
        long = "void f(std::map<int, int> first, " + "int second, " * 6 + "int last) noexcept;"
        self.assertIn(
            "(\n    std::map<int, int> first,\n    int second,", declarations.wrapped(long)
        )
        self.assertIn("\n    int last) noexcept;", declarations.wrapped(long))


class site_test(Tree):
    def test_links_of_a_page(self):
        self.write("lib/system/garrick/garrick.hpp", "")
        self.write("lib/core/garrick/core/a.hpp", "// What it is.\n")
        self.write("lib/core/README.md", "# core\n")
        self.write("tests/x.cpp", "int x;\n")
        self.write(
            "docs/one.md",
            "# One\n<!-- snippet: x -->\nText:\n- [h](../lib/core/garrick/core/a.hpp)\n"
            "- [part](../lib/core) [source](../tests/x.cpp) [folder](../tests)\n"
            "  [web](https://example.org) [here](#one)\n```\n[code](none)\n```\n"
            "[all](../lib/system/garrick/garrick.hpp)\n![a picture](pictures/p.svg)\n",
        )
        self.write("docs/pictures/p.svg", "<svg/>\n")
        stage = build_site.stage(self.root, self.root / "pages", api.writer(self.root, []))
        stage.run()
        self.assertEqual(
            (self.root / "pages/docs/one.md").read_text(),
            "# One\nText:\n\n- [h](../api/core/a.md)\n"
            "- [part](../lib/core/README.md) [source](../source/tests/x.cpp.md) "
            "[folder](../source/tests.md)\n"
            "    [web](https://example.org) [here](#one)\n```\n[code](none)\n```\n"
            "[all](../api/index.md)\n![a picture](pictures/p.svg)\n",
        )
        self.assertTrue((self.root / "pages/docs/pictures/p.svg").exists())
        self.assertIn("`x.cpp`", (self.root / "pages/source/tests.md").read_text())
        self.assertIn("int x;", (self.root / "pages/source/tests/x.cpp.md").read_text())

    def test_every_page_and_public_header_is_reached(self):
        self.write("lib/system/garrick/garrick.hpp", "")
        for part in api.ORDER:
            self.write(f"lib/{part}/garrick/{part}/a.hpp", "// What it is.\n")
            self.write(f"lib/{part}/README.md", "")
        self.write("lib/net/garrick/net/node/a.hpp", "// What it is.\n")
        self.write("lib/patterns/garrick/patterns/node/a.hpp", "#pragma once\n")
        self.write("lib/core/garrick/core/detail/a.hpp", "#pragma once\n")
        for page in ("", "examples/", "bench/", "docs/guide/", "tests/net/", "examples/texts/"):
            self.write(f"{page}README.md", "")

        def check(root):
            stage = build_site.stage(root, root / "pages", api.writer(root, []))
            nav = build_site.navigation(root, stage.writer, stage.pages)
            return build_site.unreachable(root, stage, nav)

        self.assert_clean(check)
        self.write("lib/net/garrick/net/node/b.hpp", "#pragma once\n")
        self.write("tools/notes.md", "")
        self.assert_complains(
            check,
            "net/node/b.hpp: a public header without a page",
            "tools/notes.md: a page outside the navigation",
        )

    def test_the_guide_is_in_groups(self):
        self.write("lib/system/garrick/garrick.hpp", "")
        readme = "# Guide\n\n## A\n\n- [x](x.md)\n- [z](z.md)\n\n## B\n\n- [y](y.md)\n"
        self.write("docs/guide/README.md", readme)
        for page in "xyzw":
            self.write(f"docs/guide/{page}.md", "")
        stage = build_site.stage(self.root, self.root / "pages", api.writer(self.root, []))
        nav = build_site.navigation(self.root, stage.writer, stage.pages)
        guide = next(entry["Guide"] for entry in nav if "Guide" in entry)
        self.assertEqual(
            guide[:-1],
            [
                "docs/guide/README.md",
                "docs/guide/w.md",
                {"A": ["docs/guide/x.md", "docs/guide/z.md"]},
                {"B": ["docs/guide/y.md"]},
            ],
        )

    def test_what_a_built_page_must_not_do(self):
        self.write(
            "a.html", '<a href="b.html#there">b</a><a href="#self" id="self">a</a><img src="c.png">'
        )
        self.write("b.html", '<h2 id="there"></h2><a href="https://example.org">x</a>')
        self.assert_clean(build_site.check)
        self.write(
            "c.html",
            '<a href="none.html">x</a><a href="b.html#gone">x</a>'
            '<script src="//cdn/x.js"></script>',
        )
        self.assert_complains(
            build_site.check,
            "c.html: none.html: there is no such page",
            "c.html: b.html#gone: that page has no such place",
            "c.html: loads //cdn/x.js",
        )


class search_test(Tree):
    def index(self, *entries: tuple[str, str, str]) -> None:
        docs = [dict(zip(("location", "title", "text"), entry)) for entry in entries]
        config = {"separator": r"[\W_]+"}
        self.write("search/search_index.json", json.dumps({"config": config, "docs": docs}))

    def test_what_becomes_of_a_question(self):
        for question, wanted in (
            ("send_after", "+send +after"),
            ("garrick::ref", "+garrick +ref"),
            ("ref<P>& to", "ref"),
            ("send_after(10ms, x)", "+send +after"),
            ("actor.hpp time-out", "+actor +hpp +time +out"),
            ("send_ _x :: -y +b c* d~1", "send x y b c d 1"),
            ("How to stop an actor?", "stop actor"),
            ("then", "then"),
        ):
            self.assertEqual(search.transform(question), wanted)

    def test_tags_of_a_page(self):
        self.assertEqual(search.tags("# A\n\n<!-- search: b c -->\n<!-- d -->\n"), ["b", "c"])
        self.assertEqual(search.tags("`<!-- search: b -->`\n"), [])

    def test_questions_that_are_answered_and_not(self):
        if importlib.util.find_spec("lunr") is None:
            self.skipTest("no lunr")
        self.index(
            ("source/a.html", "send_after", ""),
            ("a.html", "a.hpp", "send_after stop"),
            ("a.html#a", "a.hpp", ""),
            ("a.html#send_after", "send_after()", "Not at once: after a while."),
            ("b.html", "stop", "The after of a send is said; stop."),
            ("c.html", "c", "How an actor ends."),
        )
        search.prepare(self.root, {"c.html": ["stop"]})
        index = json.loads((self.root / "search/search_index.json").read_text())
        asked = search.engine(index)
        self.assertEqual(asked.ask(search.transform("send_after")), ["a.html", "b.html"])
        self.assertEqual(asked.ask("stop"), ["c.html", "b.html", "a.html"])
        self.assertEqual(search.check(self.root, {"stop": "c", "send_after": "a"}), [])
        self.assertEqual(
            search.check(self.root, {"send_after": "c", "none": "a"}),
            [
                "search: 'send_after' finds a.html, b.html before c.html",
                "search: 'none' finds nothing before a.html",
            ],
        )


if __name__ == "__main__":
    unittest.main()
