// expect: cannot_be_encoded<
// expect: "message.0.1"|message.0.1
// expect: private_state
// expect: needs_a_codec
// expect: needs a codec (net/wire/encodable.hpp)
#include <garrick/net/wire/codec.hpp>

#include <map>

class private_state {
 public:
  int x() const { return x_; }

 private:
  int x_ = 0;
};

struct letter {
#ifdef GARRICK_CONTROL
  std::map<int, int> all;
#else
  std::map<int, private_state> all;
#endif
};

garrick::base::result<letter> test(std::span<const std::byte> bytes) {
  return garrick::net::decode<letter>(bytes);
}
