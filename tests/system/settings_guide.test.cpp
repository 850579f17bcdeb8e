// The guide's table of settings is the table that the program works with.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>

#include <support/settings_in_guide.hpp>

TEST_CASE("guide 12 has the row of every setting as the table has it") {
  garrick::settings fresh;
  garrick::base::setting_table table;
  garrick::system::add_settings(table, fresh);
  garrick::tests::check_guide(GARRICK_SOURCE_TREE, "settings", table);
}

TEST_CASE("every setting is used where its row says") {
  garrick::settings fresh;
  garrick::base::setting_table table;
  garrick::system::add_settings(table, fresh);
  garrick::tests::check_uses(GARRICK_SOURCE_TREE, table);
}
