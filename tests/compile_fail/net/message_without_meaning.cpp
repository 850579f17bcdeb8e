// expect: cannot_be_encoded<
// expect: message.1.0
// expect: instant
// expect: means_nothing_elsewhere
#include <garrick/net/wire/codec.hpp>

#include <string>
#include <vector>

struct reminder {
  std::string what;
#ifndef GARRICK_CONTROL
  std::vector<garrick::base::instant> when;
#endif
};

garrick::base::result<garrick::net::packet> test(const reminder& r) {
  return garrick::net::encode(r);
}
