// A broker that sends back its input, and the tests' counts of it.
#pragma once

#include <garrick/garrick.hpp>
#include <garrick/net/broker/broker.hpp>
#include <garrick/net/error.hpp>

#include <atomic>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <support/quiet.hpp>
#include <support/transports.hpp>

namespace broker_test {

using namespace garrick;
using namespace garrick::tests;

/// The counts of the brokers of a test.
struct tally {
  std::atomic<int> opened{0}, closed{0}, acceptors_closed{0}, writable{0}, ended{0};
  std::atomic<std::size_t> bytes{0}, unread{0};
  std::atomic<bool> half{false};
};

struct where {};
struct shut {};
struct hold {
  bool on;
};
struct say {
  connection_handle to;
  std::string text;
};

/// Sends back its input, and counts its events.
class echo : public broker<std::string(where), void(shut), void(hold), std::string(say)> {
 public:
  echo(broker_place at_place, tally& t, const std::string& at, const socket_settings& s)
      : broker(at_place), t_(t) {
    if (!at.empty()) door_ = io().listen(at, s).value();
  }
  using broker::on;
  void on_exit(const exit_reason&) { ++t_.ended; }
  std::string on(where) { return io().local(door_).to_string(); }
  void on(shut) { io().close(door_).value(); }
  void on(hold h) {
    holds_ = h.on;
    if (!h.on) held_.clear();
  }
  std::string on(const say& s) {
    const auto done = io().write(s.to, s.text);
    return done ? "ok" : done.error().to_string();
  }
  void on(const new_connection&) { ++t_.opened; }
  void on(const new_data& d) {
    t_.bytes += d.bytes.size();
    if (holds_) return held_.push_back(d);
    static_cast<void>(io().write(d.connection, d.bytes.bytes()));
  }
  void on(const connection_closed& c) {
    t_.half = c.open != nullptr;
    t_.unread += c.unread;
    static_cast<void>(io().write(c.connection, "bye"));
    ++t_.closed;
  }
  void on(const acceptor_closed&) { ++t_.acceptors_closed; }
  void on(const writable_again&) { ++t_.writable; }

 private:
  tally& t_;
  acceptor_handle door_;
  bool holds_ = false;
  std::vector<new_data> held_;
};

inline const socket_settings greedy{.read = receive_policy::at_most(65536)};

/// An echo on an I/O thread, or on the workers.
struct served {
  tally t;
  broker_threads threads{{.threads = 2}};
  actor_system system{quiet()};
  ref<echo::protocol_type> server;
  endpoint at_;

  explicit served(bool on_workers = false, const socket_settings& s = greedy,
                  const std::string& where_at = "tcp://127.0.0.1:0") {
    server = on_workers ? system.spawn<echo>(broker_place(threads), lent(t), where_at, s)
                        : threads.spawn<echo>(system, lent(t), where_at, s);
    at_ = at(system.request(server, where{}).get().value());
  }
  [[nodiscard]] bare_socket call() const { return bare_socket::connected(at_.port()); }
};

}  // namespace broker_test
