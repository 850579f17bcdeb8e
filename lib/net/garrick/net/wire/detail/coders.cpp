#include "garrick/net/wire/detail/coders.hpp"

#include "garrick/net/error.hpp"

namespace garrick::net::detail {

void fail_valueless(byte_writer& out) {
  out.fail(base::make_error(net_errc::not_encodable, "encoding", "a variant without a value"));
}

void fail_silent_codec(byte_writer& out, std::string_view type) {
  out.fail(base::make_error(net_errc::not_encodable, type, "its codec has written nothing"));
}

}  // namespace garrick::net::detail
