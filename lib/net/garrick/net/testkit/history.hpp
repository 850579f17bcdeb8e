// The history of a simulated network: the last events for the text of a failure, and a digest of
// all of them, by which two runs are compared.
//
// An event is recorded as a few words and numbers, and made a text only when it is read: thousands
// of seeds run for each text that is read.
//
//   std::puts(net.history().to_string().c_str());   // the last events, a line each
//
// Thread safety: its network's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "garrick/base/time/clock.hpp"
#include "garrick/testkit/failure.hpp"

namespace garrick::net::testkit {

/// A `testkit::failure` with the history in its text.
class network_failure : public garrick::testkit::failure {
 public:
  using failure::failure;
};

/// The events of one network.
class network_history {
 public:
  /// Keeps the last `kept` events.
  explicit network_history(std::size_t kept) noexcept : kept_(kept) {}

  /// Returns the number of events.
  [[nodiscard]] std::uint64_t count() const noexcept { return count_; }
  /// Returns a number made of all events, kept or not. Equal runs have equal ones.
  [[nodiscard]] std::uint64_t digest() const noexcept { return digest_; }
  /// Returns the last events, a line each, newest last; begins with a line feed unless it is empty.
  [[nodiscard]] std::string to_string() const;

  /// For the framework: gives the next host number its name.
  void name(std::string_view host) { names_.emplace_back(host); }
  /// For the framework: records an event between two hosts. `what` lives for ever. A number or size
  /// of 0 is left out.
  void add(base::instant when, std::uint32_t from, std::uint32_t to, const char* what,
           std::uint64_t number = 0, std::uint64_t size = 0);
  /// For the framework: counts an event in the digest without keeping it. For frequent events with
  /// little content.
  void count(base::instant when, std::uint32_t host) noexcept;
  /// For the framework: records an event as a text, such as a fault.
  void add(base::instant when, std::string text);

 private:
  struct event {
    base::instant when;
    std::uint32_t from = 0;
    std::uint32_t to = 0;
    const char* what = nullptr;
    std::uint64_t number = 0;
    std::uint64_t size = 0;
    std::string text;
  };
  void mix(std::uint64_t x) noexcept { digest_ = (digest_ ^ x) * 0x100000001b3u; }
  void mix(std::string_view text) noexcept;
  void keep(event e);

  std::size_t kept_;
  std::uint64_t count_ = 0;
  std::uint64_t digest_ = 0xcbf29ce484222325u;
  std::vector<std::string> names_;
  std::deque<event> events_;
};

}  // namespace garrick::net::testkit
