"""Proves that each rule of layering.py can fail."""

import unittest

import layering
from temporary_tree import HEADER, Tree


class layering_test(Tree):
    def test_core_and_sched_never_see_each_other(self):
        self.write("lib/core/garrick/core/a.hpp", HEADER + "#include <garrick/sched/worker.hpp>\n")
        self.write(
            "lib/sched/garrick/sched/worker.hpp", HEADER + '#include "garrick/core/ref.hpp"\n'
        )
        self.assert_complains(
            layering.check,
            "a.hpp:2: core must not include sched",
            "worker.hpp:2: sched must not include core",
        )

    def test_tests_obey_the_table_too(self):
        self.write("lib/base/garrick/base/a.test.cpp", "#include <garrick/system/spawn.hpp>\n")
        self.assert_complains(layering.check, "base must not include system")

    def test_what_the_table_allows_is_clean(self):
        self.write("lib/base/garrick/base/a.hpp", HEADER)
        self.write(
            "lib/core/garrick/core/b.hpp",
            HEADER + "#include <garrick/base/a.hpp>\n#include <cstdint>\n",
        )
        self.write("lib/system/garrick/garrick.hpp", HEADER + "#include <garrick/core/b.hpp>\n")
        self.write("lib/system/garrick/system/diagnosis/log.cpp", "#include <spdlog/spdlog.h>\n")
        self.write("examples/01_hello.cpp", "#include <garrick/garrick.hpp>\n")
        self.assert_clean(layering.check)

    def test_a_comment_is_not_an_include(self):
        self.write(
            "lib/core/garrick/core/a.hpp",
            HEADER
            + "// #include <garrick/sched/worker.hpp>\n"
            + "/*\n#include <garrick/sched/worker.hpp>\n*/\n",
        )
        self.assert_clean(layering.check)

    def test_a_relative_include_hides_from_the_graph(self):
        self.write("lib/core/garrick/core/a.cpp", '#include "b.hpp"\n')
        self.assert_complains(layering.check, "by its full name")

    def test_expensive_headers_stay_in_sources(self):
        self.write(
            "lib/system/garrick/system/a.hpp",
            HEADER + "#include <nlohmann/json.hpp>\n#include <iostream>\n",
        )
        self.assert_complains(layering.check, "nlohmann/json.hpp", "iostream")

    def test_few_sources_see_the_headers_of_networks(self):
        room = "lib/net/garrick/net/transport/"
        for i in range(6):
            self.write(f"{room}a{i}.cpp", "#include <boost/asio/post.hpp>\n")
        self.assert_clean(layering.check)
        self.write(f"{room}tls.cpp", "#include <openssl/ssl.h>\n")
        self.assert_complains(layering.check, "7 sources", "at most 6")

    def test_no_internal_header_sees_the_headers_of_networks(self):
        self.write(
            "lib/net/garrick/net/transport/internal/a.hpp", HEADER + "#include <sodium.h>\n"
        )
        self.assert_complains(layering.check, "nor an internal one")

    def test_internal_and_detail_are_private(self):
        self.write(
            "lib/core/garrick/core/a.hpp", HEADER + "#include <garrick/core/internal/b.hpp>\n"
        )
        self.write(
            "lib/machine/garrick/machine/c.cpp",
            "#include <garrick/core/internal/b.hpp>\n#include <garrick/core/detail/d.hpp>\n",
        )
        self.write("examples/01_x.cpp", "#include <garrick/core/detail/d.hpp>\n")
        self.write("tests/sched/x.test.cpp", "#include <garrick/core/internal/b.hpp>\n")
        self.assert_complains(
            layering.check,
            "a.hpp:2: an installed header",
            "c.cpp:1: internal/",
            "c.cpp:2: detail/",
            "01_x.cpp:1: detail/",
            "x.test.cpp:1: internal/",
        )

    def test_a_private_room_is_for_those_it_is_open_to(self):
        include = "#include <garrick/core/seam/handles.hpp>\n"
        self.write("lib/system/garrick/system/a.cpp", include)
        self.write("lib/testkit/garrick/testkit/a.cpp", include)
        self.write("tests/core/a.test.cpp", include)
        self.write("examples/core/01_x.cpp", "#include <garrick/core/supervision/supervisor.hpp>\n")
        self.assert_clean(layering.check)
        self.write("bench/a.cpp", include)
        self.write("tests/system/a.test.cpp", "#include <garrick/sched/detail/x.hpp>\n")
        self.write(
            "lib/patterns/garrick/patterns/a.cpp", "#include <garrick/system/threads/b.hpp>\n"
        )
        self.assert_complains(
            layering.check,
            "bench/a.cpp:1: seam/ of core is private",
            "a.test.cpp:1: detail/ of sched is private",
            "patterns/a.cpp:1: threads/ of system is private",
        )

    def test_a_room_includes_none_that_stands_above_it(self):
        self.write(
            "lib/core/garrick/core/cell/a.cpp",
            "#include <garrick/core/mailbox/mailbox.hpp>\n"
            "#include <garrick/core/cell/b.hpp>\n#include <garrick/base/b.hpp>\n",
        )
        self.write(
            "lib/core/garrick/core/a.cpp", "#include <garrick/core/turn/internal/b.hpp>\n"
        )
        self.write(
            "lib/core/garrick/core/cell/internal/a.model.cpp",
            "#include <garrick/core/overload/b.hpp>\n",
        )
        self.assert_clean(layering.check)
        self.write("lib/core/garrick/core/cell/b.cpp", "#include <garrick/core/life/b.hpp>\n")
        self.write("lib/core/garrick/core/turn/internal/c.cpp", "#include <garrick/core/b.hpp>\n")
        self.assert_complains(
            layering.check,
            "cell/b.cpp:1: core/cell must not include core/life, which stands above it",
            "turn/internal/c.cpp:1: core/turn must not include core/, which stands above it",
        )

    def test_the_top_of_a_folder_may_be_its_lowest_room(self):
        node = "lib/net/garrick/net/node/"
        include = "#include <garrick/net/node/"
        self.write(
            node + "link/internal/link.cpp",
            f"{include}proxy/internal/a.hpp>\n{include}internal/b.hpp>\n{include}node.hpp>\n",
        )
        self.write(node + "proxy/internal/a.hpp", HEADER + f"{include}internal/b.hpp>\n")
        self.write(node + "node.cpp", f"{include}internal/b.hpp>\n")
        self.assert_clean(layering.check)
        self.write(node + "internal/b.hpp", HEADER + f"{include}link/internal/c.hpp>\n")
        self.write(node + "proxy/internal/a.cpp", f"{include}link/internal/c.hpp>\n")
        self.assert_complains(
            layering.check,
            "internal/b.hpp:2: net/node/ must not include net/node/link, which stands above it",
            "a.cpp:1: net/node/proxy must not include net/node/link, which stands above it",
        )

    def test_the_umbrella_names_public_headers_only(self):
        self.write(
            "lib/system/garrick/garrick.hpp", HEADER + "#include <garrick/core/detail/x.hpp>\n"
        )
        self.assert_complains(layering.check, "garrick.hpp:2: detail/ of core is private")

    def test_a_private_room_that_is_installed_says_why(self):
        line = "// Private: installed because templates need it.\n"
        self.write("lib/core/garrick/core/cell/a.hpp", "// A cell.\n" + HEADER + line)
        self.write("lib/core/garrick/core/cell/b.hpp", "// A cell.\n" + line + HEADER)
        self.write("lib/core/garrick/core/cell/internal/c.hpp", HEADER)
        self.write("lib/core/garrick/core/d.hpp", HEADER)
        problems = layering.check(self.root)
        self.assertEqual(len(problems), 1, problems)
        self.assertIn("cell/a.hpp:1: a header of a private room", problems[0])

    def test_tests_above_the_testkit_may_use_it(self):
        self.write(
            "lib/patterns/garrick/patterns/a.test.cpp",
            "#include <garrick/testkit/test_system.hpp>\n#include <garrick/core/ref.hpp>\n",
        )
        self.write(
            "lib/net/garrick/net/layer/a.test.cpp", "#include <garrick/net/testkit/network.hpp>\n"
        )
        self.assert_clean(layering.check)
        self.write(
            "lib/patterns/garrick/patterns/a.cpp", "#include <garrick/testkit/test_system.hpp>\n"
        )
        self.write(
            "lib/system/garrick/system/a.test.cpp", "#include <garrick/testkit/test_system.hpp>\n"
        )
        self.assert_complains(
            layering.check,
            "patterns/a.cpp:1: patterns must not include testkit",
            "a.test.cpp:1: system must not include testkit",
        )

    def test_folders_of_net_and_cluster_are_units_of_the_table(self):
        self.write(
            "lib/net/garrick/net/wire/a.hpp", HEADER + "#include <garrick/net/layer/b.hpp>\n"
        )
        self.write(
            "lib/cluster/garrick/cluster/coordination/c.hpp",
            HEADER + "#include <garrick/system/d.hpp>\n",
        )
        self.write(
            "lib/cluster/garrick/cluster/e.hpp", HEADER + "#include <garrick/system/d.hpp>\n"
        )
        self.write("lib/net/garrick/net/layer/b.hpp", HEADER)
        self.write("lib/system/garrick/system/d.hpp", HEADER)
        problems = layering.check(self.root)
        self.assertEqual(len(problems), 2, problems)
        self.assert_complains(
            layering.check,
            "net/wire must not include net/layer",
            "cluster/coordination must not include system",
        )

    def test_folder_circle_by_a_source(self):
        self.write("lib/base/garrick/base/x/a.cpp", "#include <garrick/base/y/b.hpp>\n")
        self.write("lib/base/garrick/base/y/b.hpp", HEADER + "#include <garrick/base/x/c.hpp>\n")
        self.write("lib/base/garrick/base/x/c.hpp", HEADER)
        self.assert_complains(
            layering.check, "folder circle: garrick/base/x, garrick/base/y (by lib/base/"
        )

    def test_detail_and_internal_are_halves_of_their_room(self):
        self.write("lib/base/garrick/base/a.cpp", "#include <garrick/base/internal/b.hpp>\n")
        self.write(
            "lib/base/garrick/base/internal/b.hpp", HEADER + "#include <garrick/base/c.hpp>\n"
        )
        self.write("lib/base/garrick/base/c.hpp", HEADER)
        self.assert_clean(layering.check)

    def test_unit_circle_by_a_source(self):
        self.write("lib/base/garrick/base/a.hpp", HEADER)
        self.write("lib/base/garrick/base/a.cpp", "#include <garrick/base/b.hpp>\n")
        self.write("lib/base/garrick/base/b.hpp", HEADER + "#include <garrick/base/c.hpp>\n")
        self.write("lib/base/garrick/base/c.hpp", HEADER + "#include <garrick/base/a.hpp>\n")
        self.assert_complains(
            layering.check, "unit circle: garrick/base/a, garrick/base/b, garrick/base/c (by lib/"
        )

    def test_path_and_part_agree(self):
        self.write("lib/core/garrick/base/a.hpp", HEADER)
        self.write("lib/novel/garrick/novel/a.hpp", HEADER)
        self.assert_complains(
            layering.check, "path and part must agree", "the unit novel is not in the table"
        )

    def test_the_build_obeys_the_table(self):
        self.write("lib/core/CMakeLists.txt", "garrick_part(core DEPENDS base sched PRIVATE x)\n")
        self.assert_complains(layering.check, "core must not depend on sched")


if __name__ == "__main__":
    unittest.main()
