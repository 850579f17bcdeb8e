// The requests of the workers of workload `savina_dictionary`, and the dictionary's expected
// contents at the end.
#pragma once

#include <cstdint>
#include <vector>

#include "common/measure.hpp"
#include "common/savina.hpp"

namespace bench::savina {

struct dictionary_rules {
  std::uint32_t workers = 20;
  std::uint32_t messages = 10'000;  // of each worker
  std::uint32_t writes = 10;        // per cent
};

inline dictionary_rules read_rules(arguments& args) {
  dictionary_rules rules;
  rules.workers = static_cast<std::uint32_t>(args.number("workers", rules.workers));
  rules.messages = static_cast<std::uint32_t>(args.number("messages", rules.messages));
  rules.writes = static_cast<std::uint32_t>(args.number("writes", rules.writes));
  return rules;
}

/// The requests of one worker: they depend on its number alone.
class dictionary_requests {
 public:
  struct request {
    bool write;
    std::uint32_t key;
    std::uint32_t value;  // of a write
  };

  dictionary_requests(const dictionary_rules& rules, std::uint32_t worker)
      : left_(rules.messages),
        writes_(rules.writes),
        random_(worker + rules.messages + rules.writes) {}

  bool more() const { return left_ != 0; }
  request next() {
    --left_;
    request r{random_.below(100) < writes_, 0, 0};
    r.key = random_.next();
    if (r.write) r.value = random_.next();
    return r;
  }

 private:
  std::uint32_t left_;
  std::uint32_t writes_;
  random_numbers random_;
};

struct dictionary_outcome {
  std::uint64_t size = 0;
  std::uint64_t writes = 0;
  std::uint64_t reads = 0;
};

/// Compares with the same requests made one after the other and, for parameters whose outcome was
/// published, with that.
inline void check_dictionary(result& out, const dictionary_rules& rules,
                             const dictionary_outcome& found) {
  std::vector<bool> keys(65536);
  dictionary_outcome expected;
  for (std::uint32_t worker = 0; worker < rules.workers; ++worker) {
    for (dictionary_requests requests(rules, worker); requests.more();) {
      const dictionary_requests::request r = requests.next();
      if (r.write && !keys[r.key]) ++expected.size;
      if (r.write) keys[r.key] = true;
      ++(r.write ? expected.writes : expected.reads);
    }
  }
  if (rules.writes == 10 && rules.workers == 20 && rules.messages == 10'000) {
    expected.size = 3156;
    expected.writes = 19'981;
  } else if (rules.writes == 10 && rules.workers == 100 && rules.messages == 50'000) {
    expected.size = 3176;
  }
  out.expect("size", expected.size, found.size);
  out.expect("writes", expected.writes, found.writes);
  out.expect("reads", expected.reads, found.reads);
}

}  // namespace bench::savina
