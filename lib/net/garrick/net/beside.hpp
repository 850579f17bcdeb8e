// The verdict on a second connection of a stream's link, opened while the first one is still open.
//
// Thread safety: a value.
#pragma once

#include <cstdint>

namespace garrick::net {

/// The verdict on a connection that was opened beside another one.
enum class beside : std::uint8_t {
  waits,  ///< more of its bytes are needed
  takes,  ///< takes the other connection's place
  drops   ///< is closed, and the other connection stays
};

}  // namespace garrick::net
