// The parts of a simulated network: hosts, the ways between them, and the streams on those.
//
// Thread safety: one thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "garrick/base/values/random.hpp"
#include "garrick/net/testkit/internal/host.hpp"
#include "garrick/net/testkit/internal/timeline.hpp"
#include "garrick/net/testkit/settings.hpp"

namespace garrick::net::testkit::internal {

/// A direction between two hosts.
struct way {
  way(std::uint64_t seed, const path_settings& s) : settings(s), random(seed) {}
  [[nodiscard]] bool chance(double p) noexcept { return random.unit() < p; }
  /// Returns a duration, evenly from 0 to `most`.
  [[nodiscard]] base::duration up_to(base::duration most) noexcept;
  /// Returns the departure of the last of `size` bytes that are sent at `now`.
  [[nodiscard]] base::instant departure(base::instant now, std::size_t size) noexcept;
  /// Returns the bytes that wait for the rate.
  [[nodiscard]] std::uint64_t waiting(base::instant now) const noexcept;

  path_settings settings;
  base::random_source random;
  base::instant free_at{};
  base::instant last_arrival{};  ///< the last arrival of datagrams that may not overtake
  bool cut = false;
  std::uint64_t cuts = 0;  ///< the number so far: bytes that departed before the last one are lost
};

/// A stream between two hosts, as the network sees it. Side 0 has connected, side 1 has accepted.
class stream {
 public:
  stream() = default;
  virtual ~stream() = default;
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;

  /// Returns true if nothing is sent any more.
  [[nodiscard]] virtual bool is_over() const noexcept = 0;
  [[nodiscard]] virtual bool is_at(std::uint32_t side, const host& h) const noexcept = 0;
  /// Notes that a way was cut, or is whole again.
  virtual void way_changed(const host& from, const host& to) = 0;
  virtual void host_crashed(const host& h) = 0;
  virtual void host_restarted(const host& h) = 0;
  /// Breaks the stream: each end gets the error after some of the bytes that fly to it.
  virtual void reset() = 0;
  /// Stalls the stream: it carries nothing any more, and no end gets an error.
  virtual void stall() = 0;
  /// Loses the stream at this side alone, at once.
  virtual void forget(std::uint32_t side, const char* why) = 0;
};

/// Throws std::invalid_argument for settings without sense.
void check(const path_settings& s, const std::string& way);
[[nodiscard]] const network_settings& checked(const network_settings& s);

class engine final : public timeline {
 public:
  engine(std::uint64_t seed, const network_settings& s,
         std::optional<garrick::testkit::test_world> world);
  ~engine();

  /// Returns the host of this name, made now if there is none.
  [[nodiscard]] host& named(std::string_view name);
  [[nodiscard]] const std::vector<std::unique_ptr<host>>& hosts() noexcept { return hosts_; }
  [[nodiscard]] way& way_of(const host& from, const host& to);
  /// Throws std::invalid_argument if a way has settings without sense.
  void check_ways() const;
  void set_cut(host& from, host& to, bool cut);
  void enter(const std::shared_ptr<stream>& s) { streams_.push_back(s); }
  /// Returns the streams that are not over.
  [[nodiscard]] std::vector<std::shared_ptr<stream>> streams();
  [[nodiscard]] std::vector<std::shared_ptr<stream>> streams_between(std::string_view a,
                                                                     std::string_view b);
  void crash(host& h, crash_kind what);
  void restart(host& h);

 private:
  /// The owners of the first deadline.
  struct due {
    base::instant when = base::instant::never();
    std::vector<std::pair<host*, end*>> who;  ///< end null: the host's clock
  };
  [[nodiscard]] due all_due() const;
  [[nodiscard]] base::instant first_due() const override { return all_due().when; }
  void call_due() override;

  base::random_source random_;
  std::vector<std::unique_ptr<host>> hosts_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, way> ways_;
  std::vector<std::weak_ptr<stream>> streams_;
};

}  // namespace garrick::net::testkit::internal
