// The reasons why dialled endpoints have not been reached.
#pragma once

#include <garrick/base/values/error.hpp>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <string>
#include <utility>

namespace garrick::net::internal {

/// The outcome of the last attempts, by the endpoint's text, for the `most` latest endpoints. It
/// outlives the attempts, since callers ask after their time-out, when the link may have ended,
/// too. Not thread-safe.
class unreached_endpoints {
 public:
  static constexpr std::size_t most = 64;

  /// Forgets an endpoint that is dialled again or was reached.
  void forget(const std::string& key) noexcept {
    std::erase_if(known_, [&](const one& o) { return o.key == key; });
  }
  void failed(const std::string& key, const base::error& why) {
    one& o = of(key);
    o.failure = why;
    o.is_to_speak = false;
  }
  /// Notes that there is a connection, or a socket for datagrams, and that the other end has yet to
  /// identify itself.
  void is_to_speak(const std::string& key) { of(key).is_to_speak = true; }

  /// Returns the outcome in words; empty if none is known. `earlier`: the reason why the endpoint
  /// was not reached before the present dial, which holds until there is a newer one.
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
