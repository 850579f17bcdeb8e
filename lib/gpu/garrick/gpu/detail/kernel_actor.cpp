#include "garrick/gpu/detail/kernel_actor.hpp"

namespace garrick::gpu::detail {

error thrown_by(const char* what, const std::string& where) {
  try {
    throw;
  } catch (const std::exception& e) {
    return make_error(errc::receiver_failed, where, std::string(what) + ": " + e.what());
  } catch (...) { return make_error(errc::receiver_failed, where, what); }
}

}  // namespace garrick::gpu::detail
