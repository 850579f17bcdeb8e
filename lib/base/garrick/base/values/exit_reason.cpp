// Texts and classification of exit reasons.
#include "garrick/base/values/exit_reason.hpp"

namespace garrick::base {
namespace detail {

constinit const exit_error_category exit_errors{};

namespace {
const category_entry exit_entry{exit_errors};
}  // namespace

std::string_view exit_error_category::name() const noexcept { return "exit"; }

std::string exit_error_category::message(std::uint32_t code) const {
  switch (static_cast<exit_code>(code)) {
    case exit_code::normal: return "normal";
    case exit_code::kill: return "killed";
    case exit_code::user_shutdown: return "asked to shut down";
    case exit_code::unreachable: return "unreachable: no handle to it was left";
    case exit_code::unhandled_exception: return "an exception left a handler";
    case exit_code::failure: return "failed";
  }
  return "unknown exit code " + std::to_string(code);
}

}  // namespace detail

exit_code exit_reason::code() const noexcept {
  if (!error_) return exit_code::normal;
  if (error_.category() == &detail::exit_errors) return static_cast<exit_code>(error_.code());
  return exit_code::failure;
}

bool exit_reason::is_failure() const noexcept {
  const exit_code c = code();
  return c == exit_code::failure || c == exit_code::unhandled_exception;
}

}  // namespace garrick::base
