// Any text is an endpoint that prints as a text of an equal one, or an error with a place and a
// reason.
#include <garrick/base/platform/assert.hpp>
#include <garrick/net/transport/endpoint.hpp>

#include <cstddef>
#include <cstdint>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace garrick::net;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto e = endpoint::parse(text);
  if (!e) {
    GARRICK_ASSERT(e.error() == net_errc::bad_endpoint && e.error().detail().starts_with("column "),
                   "the error does not say where");
    return 0;
  }
  const auto again = endpoint::parse(e->to_string());
  GARRICK_ASSERT(again && *again == *e, "an endpoint prints as another one");
  const auto there = endpoint::parse(e->advertised().to_string());
  GARRICK_ASSERT(there && *there == e->advertised(),
                 "an advertised endpoint prints as another one");
  GARRICK_ASSERT(e->path().size() <= endpoint::longest_path, "a path that no address takes");
  return 0;
}
