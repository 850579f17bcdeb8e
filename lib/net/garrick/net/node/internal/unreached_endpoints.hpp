// Why endpoints that were dialled have not been reached.
#pragma once

#include <garrick/base/values/error.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <string>
#include <utility>

namespace garrick::net::internal {

/// What has come of the last attempts, by the endpoint's text. It outlives what was dialled: who
/// asks has just run out of time, and so has the link, perhaps. The `most` latest are kept. Not
/// thread-safe.
class unreached_endpoints {
 public:
  static constexpr std::size_t most = 64;

  /// Nothing is known of it any more: it is dialled anew, or was reached.
  void forget(const std::string& key) noexcept {
    std::erase_if(known_, [&](const one& o) { return o.key == key; });
  }
  void failed(const std::string& key, const base::error& why) {
    one& o = of(key);
    o.failure = why;
    o.is_to_speak = false;
  }
  /// There is a connection, or a socket for datagrams, and the other end is to say who it is.
  void is_to_speak(const std::string& key) { of(key).is_to_speak = true; }

  /// In words; empty: nothing is known. `earlier`: why it was not reached before it was dialled
  /// anew, which is told until there is something newer.
  [[nodiscard]] std::string last_attempt(const std::string& key,
                                         const base::error& earlier = {}) const {
    const auto at = std::ranges::find(known_, key, &one::key);
    const bool is_known = at != known_.end();
    const base::error& why = is_known && at->failure ? at->failure : earlier;
    const std::string before = why ? why.to_string() : std::string();
    if (is_known && at->is_to_speak)
      return "nothing has come from there" + (before.empty() ? before : "; before: " + before);
    return before.empty() ? before : "the last attempt: " + before;
  }

 private:
  struct one {
    std::string key;
    base::error failure;
    bool is_to_speak = false;
  };

  one& of(const std::string& key) {
    const auto at = std::ranges::find(known_, key, &one::key);
    if (at != known_.end()) return *at;
    if (known_.size() == most) known_.pop_front();
    known_.push_back({key, {}, false});
    return known_.back();
  }

  std::deque<one> known_;
};

}  // namespace garrick::net::internal
