// The environment of a deterministic system: what an actor finds around it in a test. It owns the
// scheduler, virtual time, the names and the threads of blocking actors, and keeps what is lost.
//
// Thread safety: the system's own thread and the threads of blocking actors, one at a time: whoever
// holds the baton (baton.hpp).
#pragma once

#include <garrick/base/time/virtual_clock.hpp>
#include <garrick/core/cell/cell_list.hpp>
#include <garrick/core/cell/drain_lot.hpp>
#include <garrick/core/cell/environment.hpp>
#include <garrick/core/cell/wait_graph.hpp>
#include <garrick/system/diagnosis/dead_letters.hpp>
#include <garrick/system/names/directory.hpp>
#include <garrick/testkit/detail/settings.hpp>
#include <garrick/testkit/internal/baton.hpp>
#include <garrick/testkit/internal/deterministic_scheduler.hpp>
#include <garrick/testkit/internal/history.hpp>

#include <cstdint>
#include <memory>
#include <vector>

namespace garrick::testkit::internal {

class deterministic_environment final : public core::environment {
 public:
  explicit deterministic_environment(const settings& values);
  /// The end of the system itself; cells may still hold the environment.
  void stop() noexcept;

  // core::environment
  void dead_letter(const core::undelivered& what) noexcept override;
  bool joined(core::cell& who) noexcept override;
  void left(core::cell& who) noexcept override;
  void failed(const core::cell& who, const base::error& why) noexcept override;
  base::result<core::waiting_executor*> detached_executor(bool blocking) noexcept override;
  core::waiting_executor* executor_of_scoped(core::cell& who) noexcept override;

  // for the testkit
  [[nodiscard]] deterministic_scheduler& scheduler() noexcept { return scheduler_; }
  [[nodiscard]] base::virtual_clock& time() noexcept { return *clock_; }
  [[nodiscard]] const history& past() const noexcept { return past_; }
  [[nodiscard]] std::vector<lost_message>& lost() noexcept { return lost_; }
  [[nodiscard]] system::dead_letters& letters() noexcept { return letters_; }
  [[nodiscard]] system::directory& names() noexcept { return directory_; }
  [[nodiscard]] const settings& given() const noexcept { return settings_; }
  /// The actors that live now, in the order in which they were spawned.
  [[nodiscard]] std::vector<core::cell*> living() const;
  /// From now on every spawn fails.
  void refuse_spawns() noexcept { closed_ = true; }

 private:
  ~deterministic_environment() = default;
  void destroy() noexcept override { delete this; }

  const settings settings_;
  std::unique_ptr<base::virtual_clock> clock_;
  history past_;
  deterministic_scheduler scheduler_;
  core::drain_lot drain_lot_;
  core::wait_graph wait_graph_;
  system::dead_letters letters_;
  system::directory directory_{*this};

  std::vector<std::unique_ptr<baton_thread>> threads_;
  std::vector<std::unique_ptr<driving_wait>> waits_;
  core::cell_list actors_;  ///< those that live
  bool closed_ = false;
  std::vector<lost_message> lost_;
};

}  // namespace garrick::testkit::internal
