// The environment of a deterministic system's actors. It owns the names and the threads of detached
// and blocking actors, and keeps lost messages. Its world chooses the turns and owns the time.
//
// Thread safety: only the holder of the baton (baton.hpp): the system's own thread or the thread of
// a detached or blocking actor.
#pragma once

#include <garrick/core/seam/environment.hpp>
#include <garrick/system/diagnosis/dead_letters.hpp>
#include <garrick/system/names/directory.hpp>
#include <garrick/testkit/detail/settings.hpp>
#include <garrick/testkit/internal/baton.hpp>
#include <garrick/testkit/internal/deterministic_scheduler.hpp>
#include <garrick/testkit/internal/deterministic_world.hpp>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace garrick::testkit::internal {

class deterministic_environment final : public core::environment {
 public:
  deterministic_environment(deterministic_world& world, const settings& values);
  /// Ends the system; cells and the world may still hold the environment.
  void stop() noexcept;

  // core::environment
  void dead_letter(const core::undelivered& what) noexcept override;
  bool joined(core::cell& who) noexcept override;
  void left(core::cell& who) noexcept override;
  void failed(const core::cell& who, const base::error& why) noexcept override;
  /// Writes nothing: a deterministic system has no log.
  void warn(std::string_view, std::string_view, std::string_view) noexcept override {}
  base::result<core::waiting_executor*> detached_executor(
      bool blocking, std::string_view affinity) noexcept override;
  core::waiting_executor* executor_of_scoped(core::cell& who) noexcept override;

  // for the testkit
  [[nodiscard]] deterministic_scheduler& scheduler() noexcept { return world_.scheduler(); }
  [[nodiscard]] base::virtual_clock& time() noexcept { return world_.time(); }
  [[nodiscard]] const history& past() const noexcept { return world_.past(); }
  /// Returns the failures of this system's handlers.
  [[nodiscard]] const std::vector<std::string>& failures() const noexcept { return failures_; }
  [[nodiscard]] std::vector<lost_message>& lost() noexcept { return lost_; }
  /// Returns the index of the first dead letter that may not have been expected; all letters before
  /// it were expected.
  [[nodiscard]] std::size_t& first_unexpected() noexcept { return first_unexpected_; }
  [[nodiscard]] system::dead_letters& letters() noexcept { return letters_; }
  [[nodiscard]] system::directory& names() noexcept { return directory_; }
  [[nodiscard]] const settings& given() const noexcept { return settings_; }
  [[nodiscard]] std::uint64_t seed() const noexcept { return world_.seed(); }
  /// Returns the living actors, in the order in which they were spawned.
  [[nodiscard]] std::vector<core::cell*> living() const;
  /// Returns the living actors of the world's other systems.
  [[nodiscard]] std::vector<core::cell*> living_elsewhere() const;
  /// Makes every later spawn fail.
  void refuse_spawns() noexcept { closed_ = true; }

 private:
  ~deterministic_environment() = default;
  void destroy() noexcept override { delete this; }

  const settings settings_;
  deterministic_world& world_;  ///< used only while the world lives
  deterministic_workers event_actors_;
  core::drain_lot drain_lot_;
  core::wait_graph wait_graph_;
  system::dead_letters letters_;
  system::directory directory_{*this};

  std::vector<std::unique_ptr<baton_thread>> threads_;
  std::vector<std::unique_ptr<driving_wait>> waits_;
  core::cell_list actors_;  ///< the living actors
  bool closed_ = false;
  std::vector<lost_message> lost_;
  std::size_t first_unexpected_ = 0;
  std::vector<std::string> failures_;
};

}  // namespace garrick::testkit::internal
