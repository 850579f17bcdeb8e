"""Proves that each rule of gpu_waits.py can fail."""

import unittest

import gpu_waits
from temporary_tree import Tree


class gpu_waits_test(Tree):
    FILE = "lib/gpu/garrick/gpu/internal/a.cpp"

    def test_what_waits(self):
        self.write(
            self.FILE,
            "void f() {\n"
            "  clFinish(q);\n"
            "  clWaitForEvents(1, &e);\n"
            "  clEnqueueReadBuffer(q, m, CL_TRUE, 0, n, to, 0, nullptr, &e);\n"
            "  clEnqueueWriteBuffer(q, static_cast<cl_mem>(x.memory(a, b)), blocking, 0, n);\n"
            "  queue.finish();\n"
            "  event->wait();\n"
            "  cl::Buffer b;\n"
            "}\n",
        )
        self.assert_complains(
            gpu_waits.check, *(f"a.cpp:{line}: " for line in (2, 3, 4, 5, 6, 7, 8))
        )

    def test_an_include_elsewhere(self):
        self.write("lib/gpu/garrick/gpu/a.hpp", "#pragma once\n#include <CL/opencl.hpp>\n")
        self.assert_complains(gpu_waits.check, "a.hpp:2: only opencl.hpp includes CL/opencl.hpp")

    def test_what_does_not_wait(self):
        self.write(
            self.FILE,
            "// clFinish would wait\n"
            "void f() {\n"
            "  clEnqueueReadBuffer(q, static_cast<cl_mem>(m.memory()), CL_FALSE, 0, n, to);\n"
            "  work_.wait(lock, [this] { return true; });\n"
            "  h.finish();\n"
            "}\n",
        )
        self.write("lib/net/garrick/net/a.cpp", "void f() { clFinish(q); }\n")
        self.assert_clean(gpu_waits.check)


if __name__ == "__main__":
    unittest.main()
