#include "garrick/gpu/settings.hpp"

#include <garrick/base/settings/setting_table.hpp>

#include <doctest/doctest.h>

namespace settings_test {

namespace {

using namespace garrick;

TEST_CASE("the rows of gpu.* have the defaults of the structure, and refuse values out of range") {
  gpu::gpu_settings s;
  base::setting_table table;
  gpu::add_settings(table, s);
  CHECK(table.rows().size() == 7);
  CHECK_FALSE(table.first_refused());
  s.in_flight = 0;
  REQUIRE(table.first_refused());
  CHECK(table.first_refused()->key == "gpu.in_flight");
}

}  // namespace

}  // namespace settings_test
