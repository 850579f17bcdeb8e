// The error in the slot of a result that is answered later.
#include <garrick/core/result.hpp>

namespace garrick::core::detail {

base::error answered_later() { return base::errc::broken_promise; }

}  // namespace garrick::core::detail
