// Which processors serve the actors and which the accelerator, where they share none, as in the
// thesis.
#pragma once

#include <garrick/garrick.hpp>

#include <algorithm>
#include <string>
#include <vector>

namespace bench {

struct placed {
  std::string workers;  // the first processor
  std::string team;     // the others, if there are any
};

// As affinity texts: "<0>" and "<1,2,3>".
inline placed apart() {
  const std::vector<std::int32_t> all = garrick::base::platform::usable_processors();
  std::string others;
  for (std::size_t i = std::min<std::size_t>(1, all.size() - 1); i < all.size(); ++i)
    others += (others.empty() ? "<" : ",") + std::to_string(all[i]);
  return {"<" + std::to_string(all[0]) + ">", others + ">"};
}

}  // namespace bench
