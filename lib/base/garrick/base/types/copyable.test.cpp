// Types that count as copyable, and types that do not, such as containers of uncopyable elements.
#include <garrick/base/types/copyable.hpp>

#include <doctest/doctest.h>

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace copyable_test {

using garrick::base::copyable_message;

namespace {
struct plain {
  int a;
  std::string b;
  int c[3];
};
struct owner {
  std::unique_ptr<int> p;
};
struct box {
  std::vector<std::unique_ptr<int>> things;
};
struct nested {
  int n;
  std::optional<box> inner;
};
struct tree {
  int value;
  std::vector<tree> children;
};
struct forest {
  std::map<std::string, std::unique_ptr<tree>> trees;
};
}  // namespace

static_assert(copyable_message<int>);
static_assert(copyable_message<plain>);
static_assert(copyable_message<tree>);
static_assert(copyable_message<std::map<std::string, std::vector<int>>>);
static_assert(copyable_message<std::shared_ptr<const plain>>);
static_assert(!copyable_message<owner>);
// the reason for this trait
static_assert(std::is_copy_constructible_v<box> && !copyable_message<box>);
static_assert(!copyable_message<nested>);
static_assert(!copyable_message<forest>);
static_assert(!copyable_message<std::array<box, 2>>);

TEST_CASE("a container of elements that cannot be copied cannot be copied") {
  CHECK(copyable_message<std::vector<std::string>>);
  CHECK_FALSE(copyable_message<std::vector<std::unique_ptr<std::string>>>);
}

}  // namespace copyable_test
