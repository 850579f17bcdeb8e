// A class that the framework cannot look into, in messages between two nodes: its codec writes the
// bytes.
#include <garrick/garrick.hpp>
#include <garrick/net/node/node.hpp>

#include <cstdint>
#include <cstdio>

using namespace garrick;

// [codec]
class fraction {
 public:
  using garrick_sendable = void;  // it owns everything that it holds
  fraction() = default;
  fraction(std::int64_t above, std::int64_t below) : above_(above), below_(below) {}
  std::int64_t above() const { return above_; }
  std::int64_t below() const { return below_; }  // never 0

 private:
  std::int64_t above_ = 0;
  std::int64_t below_ = 1;
};

template <>
struct garrick::net::codec<fraction> {
  static void encode(net::byte_writer& out, const fraction& f) {
    net::encode_value(out, f.above());
    net::encode_value(out, f.below());
  }
  static void decode(net::byte_reader& in, fraction& f) {
    std::int64_t above = 0, below = 0;
    net::decode_value(in, above);
    net::decode_value(in, below);
    if (in.failed()) return;
    if (below == 0) return in.fail("a fraction of 0");  // the bytes may come from a faulty peer
    f = fraction(above, below);
  }
  using parts = base::type_list<std::int64_t>;  // nodes compare these types and the class's name
};

using multiplier = protocol<fraction(fraction, fraction)>;
// [/codec]

class multiplying : public actor<multiplier> {
 public:
  fraction on(const fraction& a, const fraction& b) {
    return {a.above() * b.above(), a.below() * b.below()};
  }
};

int main() {
  actor_system here, there;
  net::node a(here), b(there);
  const auto at = a.listen("tcp://127.0.0.1:0").value();
  a.publish("multiplier", here.spawn<multiplying>()).value();
  const auto far = b.remote<multiplier>(at.to_string(), "multiplier").value();
  const fraction product = there.request(far, fraction(2, 3), fraction(5, 7)).get().value();
  std::printf("2/3 * 5/7 = %ld/%ld\n", static_cast<long>(product.above()),
              static_cast<long>(product.below()));
}
