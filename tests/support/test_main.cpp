// The one translation unit that compiles the test framework itself; test files only include its
// header. A test that hangs says where, before CTest kills it.
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include "support/stacks_when_stuck.hpp"

namespace {

/// Tells which test case is running.
class current_case : public doctest::IReporter {
 public:
  explicit current_case(const doctest::ContextOptions&) {}
  void test_case_start(const doctest::TestCaseData& test) override {
    garrick::tests::stuck_in(test.m_name);
  }
  void test_case_end(const doctest::CurrentTestCaseStats&) override {
    garrick::tests::stuck_in("no test case");
  }
  void report_query(const doctest::QueryData&) override {}
  void test_run_start() override {}
  void test_run_end(const doctest::TestRunStats&) override {}
  void test_case_reenter(const doctest::TestCaseData&) override {}
  void test_case_exception(const doctest::TestCaseException&) override {}
  void subcase_start(const doctest::SubcaseSignature&) override {}
  void subcase_end() override {}
  void log_assert(const doctest::AssertData&) override {}
  void log_message(const doctest::MessageData&) override {}
  void test_case_skipped(const doctest::TestCaseData&) override {}
};

}  // namespace

DOCTEST_REGISTER_LISTENER("current_case", 1, current_case);

int main(int argc, char** argv) {
  garrick::tests::stacks_when_stuck();
  return doctest::Context(argc, argv).run();
}
