// A fake stack, which records the calls of a transport.
//
// Thread safety: its endpoint's.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "garrick/net/packet.hpp"
#include "garrick/net/transport/carrier.hpp"

namespace garrick::net::testkit {

/// Records each call, with its time.
///
///     recording there;
///     endpoint->drive(there);
class recording : public carried {
 public:
  /// A call.
  struct entry {
    base::instant when;  ///< the host's time
    std::string what;    ///< "connected", "disconnected: why", the bytes, "writable", "advance"
  };

  recording() = default;
  virtual ~recording() = default;
  recording(const recording&) = delete;
  recording& operator=(const recording&) = delete;

  void connected(base::instant now) override { add(now, "connected"); }
  void disconnected(const base::error& why, base::instant now) override {
    add(now, "disconnected: " + why.to_string());
  }
  void receive(std::span<const std::byte> bytes, base::instant now) override {
    bytes_.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    add(now, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  }
  void carrier_writable(base::instant now) override { add(now, "writable"); }
  void path_changed(std::size_t, base::instant now) override { add(now, "path"); }
  [[nodiscard]] base::instant deadline() const override { return wakes_at; }
  void advance(base::instant now) override {
    wakes_at = base::instant::never();
    add(now, "advance");
  }

  /// Returns all calls, oldest first.
  [[nodiscard]] const std::vector<entry>& calls() const noexcept { return calls_; }
  /// Returns the calls without their times.
  [[nodiscard]] std::vector<std::string> texts() const {
    std::vector<std::string> all;
    for (const entry& e : calls_) all.push_back(e.what);
    return all;
  }
  /// Returns all received bytes, one after the other.
  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }
  /// Forgets all calls.
  void clear() { calls_.clear(), bytes_.clear(); }

  base::instant wakes_at = base::instant::never();  ///< the result of `deadline`, until `advance`
  std::function<void(std::string_view)> then;       ///< called after each call, if set

 private:
  void add(base::instant now, std::string what) {
    calls_.push_back({now, what});
    if (then) then(what);
  }
  std::vector<entry> calls_;
  std::string bytes_;
};

/// Returns a packet of these characters.
[[nodiscard]] inline packet packet_of(std::string_view text) {
  return packet::copy_of(std::as_bytes(std::span(text.data(), text.size())));
}

}  // namespace garrick::net::testkit
