// Guide 12 lists the keys of links, too, with the values of the table.
#include <doctest/doctest.h>
#include <garrick/net/stack/stacks.hpp>

#include <string>

#include <support/settings_in_guide.hpp>

#include "support/places.hpp"

namespace settings_guide_test {

using namespace garrick;

namespace {

struct links {
  std::string stack = "stream";
  net::link_settings settings;
  base::setting_table table;
  links() { net::add_settings(table, stack, settings); }
};

}  // namespace

TEST_CASE("guide 12 has the row of every setting of links as the table has it") {
  tests::check_guide(tests::places::source_tree, "settings of links", links().table);
}

TEST_CASE("every setting of links is used where its row says") {
  tests::check_uses(tests::places::source_tree, links().table);
}

}  // namespace settings_guide_test
