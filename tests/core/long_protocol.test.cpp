// A protocol with more signatures than people write. It takes longer to compile than to run, and
// comes out alike wherever it is built.
#include <doctest/doctest.h>
#include <garrick/garrick.hpp>

#include <cstddef>
#include <utility>

namespace long_protocol_test {

namespace {

using namespace garrick;

template <std::size_t I>
struct numbered {
  std::size_t value = I;
};
template <class Sequence>
struct long_protocol;
template <std::size_t... I>
struct long_protocol<std::index_sequence<I...>> {
  using type = protocol<std::size_t(numbered<I>)...>;
};
class long_actor : public actor<long_protocol<std::make_index_sequence<512>>::type> {
 public:
  template <std::size_t I>
  std::size_t on(numbered<I> n) {
    return n.value * 2;
  }
};

TEST_CASE("a protocol may have 512 signatures") {
  actor_system system;
  const auto a = system.spawn<long_actor>();
  CHECK(system.request(a, numbered<0>{}).get().value() == 0);
  CHECK(system.request(a, numbered<300>{}).get().value() == 600);
  CHECK(system.request(a, numbered<511>{}).get().value() == 1022);
  const ref<protocol<std::size_t(numbered<511>)>> last = a;
  CHECK(system.request(last, numbered<511>{}).get().value() == 1022);
  CHECK(system.request_as<int>(any_ref(a), 'x').get().error() == errc::unexpected_message);
}

}  // namespace

}  // namespace long_protocol_test
