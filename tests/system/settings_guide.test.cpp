// The guide's table of settings is the table that the program works with.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>

#include <support/settings_in_guide.hpp>

#include "support/places.hpp"

namespace settings_guide_test {

TEST_CASE("guide 12 has the row of every setting as the table has it") {
  garrick::settings fresh;
  garrick::base::setting_table table;
  garrick::system::add_settings(table, fresh);
  garrick::tests::check_guide(garrick::tests::places::source_tree, "settings", table);
}

TEST_CASE("every setting is used where its row says") {
  garrick::settings fresh;
  garrick::base::setting_table table;
  garrick::system::add_settings(table, fresh);
  garrick::tests::check_uses(garrick::tests::places::source_tree, table);
}

}  // namespace settings_guide_test
