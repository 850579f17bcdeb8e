// A host from the inside: its ends, the work that waits for a paused process, and its crashes.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "garrick/net/testkit/internal/host_clock.hpp"
#include "garrick/net/testkit/internal/timeline.hpp"
#include "garrick/net/testkit/settings.hpp"
#include "garrick/net/transport/carrier.hpp"

namespace garrick::net::testkit::internal {

class host;

/// An endpoint's inside. Events refer to it, too, so it may outlive its endpoint and its network.
class end : public std::enable_shared_from_this<end> {
 public:
  end(host& h, address local, address peer);
  virtual ~end() = default;
  end(const end&) = delete;
  end& operator=(const end&) = delete;

  virtual void started() = 0;
  virtual void transmit(packet bytes) = 0;
  [[nodiscard]] virtual bool takes_datagrams() const noexcept { return false; }
  [[nodiscard]] virtual bool is_open() const = 0;
  [[nodiscard]] virtual bool writable() const = 0;
  [[nodiscard]] virtual std::size_t largest() const = 0;
  virtual void reopen() = 0;
  virtual void reopen_beside() {}
  virtual void close() = 0;
  /// Called when the host has crashed or the network has ended.
  virtual void died() { dead_ = true, upper_ = nullptr; }

  void drive(carried& upper);
  void release() noexcept { upper_ = nullptr; }
  [[nodiscard]] carried* upper() const noexcept { return upper_; }
  [[nodiscard]] bool is_dead() const noexcept { return dead_; }
  [[nodiscard]] host& at() const noexcept { return host_; }
  /// Returns a number that no other end of the network has or had.
  [[nodiscard]] std::uint64_t id() const noexcept { return id_; }
  [[nodiscard]] const address& local() const noexcept { return local_; }
  [[nodiscard]] const address& peer() const noexcept { return peer_; }
  /// Calls the stack when the host's process runs, unless the end has no stack any more.
  void later(base::instant when, std::function<void(carried&, base::instant)> call);
  /// Calls the stack at once. Requires that the process runs.
  void call(const std::function<void(carried&, base::instant)>& what);

 protected:
  void bury() noexcept { dead_ = true, upper_ = nullptr; }

 private:
  host& host_;
  const std::uint64_t id_;
  const address local_;
  const address peer_;
  carried* upper_ = nullptr;
  bool dead_ = false;  ///< once it is true, `host_` may be gone
};

/// A port that accepts.
class listening {
 public:
  using accept = std::function<void(std::shared_ptr<end>)>;
  listening(accept t, bool r) : taken(std::move(t)), resumes(r) {}
  accept taken;
  const bool resumes;
  bool over = false;
  /// The accepted ends, by the client's end.
  std::map<std::uint64_t, std::weak_ptr<end>> known;
};

class host {
 public:
  host(timeline& t, std::string name, std::uint32_t number);
  ~host();

  [[nodiscard]] timeline& time() noexcept { return time_; }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
  [[nodiscard]] host_clock& clock() noexcept { return clock_; }
  [[nodiscard]] const host_clock& clock() const noexcept { return clock_; }
  [[nodiscard]] bool is_paused() const noexcept { return paused_; }
  [[nodiscard]] bool is_up() const noexcept { return up_; }
  /// Returns false while the machine is off.
  [[nodiscard]] bool has_power() const noexcept { return power_; }
  [[nodiscard]] std::uint32_t lives() const noexcept { return lives_; }
  /// Does work of the process: now or, if the process is paused, when it is resumed.
  void when_running(std::function<void()> what, std::size_t kept_bytes = 0);
  /// Returns the bytes of datagrams that a paused process has still to take.
  [[nodiscard]] std::size_t kept_bytes() const noexcept { return kept_bytes_; }

  void enter(const std::shared_ptr<end>& e);
  /// Returns the ends that are alive.
  [[nodiscard]] std::vector<std::shared_ptr<end>> ends() const;
  [[nodiscard]] std::uint16_t free_port() noexcept { return next_port_++; }
  /// Returns another seed at each call, from the network's; never 0.
  [[nodiscard]] std::uint64_t next_seed();
  /// Returns the end for datagrams to `port` from `from`; null if there is none.
  [[nodiscard]] std::shared_ptr<end> datagram_end(std::uint16_t port, const address& from) const;
  [[nodiscard]] std::shared_ptr<listening> datagram_listener(std::uint16_t port) const;
  [[nodiscard]] std::shared_ptr<listening> stream_listener(std::uint16_t port) const;
  std::shared_ptr<listening> listen(bool streams, std::uint16_t port, listening::accept taken,
                                    bool resumes);

  /// Makes the program, now and at each restart.
  void runs(std::function<std::shared_ptr<void>()> program);
  void pause();
  void resume();
  /// Does the first half of a crash: the host is no longer up. The caller must end its streams
  /// next.
  void lose_power_of(crash_kind what);
  /// Does the second half of a crash: ends the endpoints, drops the timers and destroys the
  /// program.
  void crash();
  /// Does the first half of a restart.
  void gets_power();
  void restart();
  /// Stops the host, because the network has ended.
  void stop() noexcept;

 private:
  using ports = std::map<std::uint16_t, std::weak_ptr<listening>>;
  [[nodiscard]] static std::shared_ptr<listening> at(const ports& p, std::uint16_t port);
  void let_ends_die();
  void tell(const char* what);

  timeline& time_;
  const std::string name_;
  const std::uint32_t number_;
  host_clock clock_;
  bool paused_ = false;
  bool up_ = true;
  bool power_ = true;
  std::uint32_t lives_ = 0;
  std::deque<std::function<void()>> held_;
  std::size_t kept_bytes_ = 0;
  std::vector<std::weak_ptr<end>> ends_;
  ports datagram_ports_;
  ports stream_ports_;
  std::uint16_t next_port_ = 49'152;
  std::uint32_t seeds_ = 0;  ///< the number of seeds given so far
  std::function<std::shared_ptr<void>()> program_;
  std::shared_ptr<void> running_;
};

}  // namespace garrick::net::testkit::internal
