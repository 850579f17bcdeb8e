// The children that one actor supervises: which are up, which wait for their restart, in which
// order they are stopped.
//
// Problem: a restart is not an end. The child keeps its cell: it reports that it is suspended
// (lifecycle.cpp), this class decides, and a signal makes it build a new object. A group is taken
// down youngest first and brought up oldest first, one child at a time; an actor that ends stops
// its children, youngest first, before it ends.
//
// Ownership: a supervisor holds its children, children know their supervisor by address only. So a
// tree lives as long as its top has a handle, and is stopped in order when the last one is gone.
//
// Thread safety: the supervising actor's turn, except `admit` and `turn_away`.
//
// Invariants
// N1 `children_` is in the order of starting.
// N2 A group operation asks at most one child at a time to suspend or stop, or starts it.
// N3 An alarm whose serial is not the one awaited is stale and ignored.
// N4 A child that is asked, or started with its group, has its `stop_within`. A child that
//    does not answer in time is named and let go, so no group waits for ever.
#pragma once

#include <garrick/base/values/random.hpp>
#include <garrick/core/actor.hpp>
#include <garrick/core/cell/dependents.hpp>
#include <garrick/core/cell/supervised.hpp>
#include <garrick/core/life/signals.hpp>
#include <garrick/core/promise.hpp>
#include <garrick/core/supervision/supervision.hpp>

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

namespace garrick::core {

/// The data of a new child that its supervisor needs before the child can run.
struct adoption {
  any_ref child;
  std::string name;
  restart_policy restart = restart_policy::permanent;
  base::duration stop_within;
  bool named = false;  ///< by the program; then no other child may have the name
};

class children final : public dependents {
 public:
  children(cell& self, const supervision& how);
  ~children() override;
  children(const children&) = delete;
  children& operator=(const children&) = delete;

  /// Returns the children of an actor, made with defaults if it has none.
  static children& of(cell& self);
  /// Returns the reason why `how` cannot be used; an empty text if it can.
  [[nodiscard]] static std::string complaint(const supervision& how);
  /// Gives a child that does not run yet to its supervisor. Any thread.
  static void admit(cell& supervisor, bool on_its_turn, adoption arrival);
  /// Ends a child that its supervisor does not adopt, since the supervisor has ended or another
  /// child has the name. Any thread.
  static void turn_away(const adoption& refused,
                        base::exit_reason reason = base::exit_code::user_shutdown) noexcept;

  /// Sets the rules. Throws std::invalid_argument that names a bad setting.
  void configure(const supervision& how);
  /// Takes a child over, unless another child has its name.
  void adopt(cell& self, adoption& arrival);

  void on_signal(cell& self, envelope* e) override;
  [[nodiscard]] bool wound_down(cell& self) override;
  [[nodiscard]] bool ends_its_actor() const noexcept override { return ends_actor_; }
  void abandon() noexcept override;

  [[nodiscard]] std::vector<child_info> list() const;
  [[nodiscard]] bool has(std::string_view name) const noexcept;
  /// Returns the oldest child with this name, or an empty handle.
  [[nodiscard]] any_ref find(std::string_view name) const;
  /// Stops one child; the promise is kept when the child has ended, or is still alive after its
  /// time. Returns false if no child has this id.
  bool stop(cell& self, std::uint64_t id, response_promise<> when_ended);
  /// Stops all children, youngest first; the supervisor itself continues.
  void stop_all(cell& self, response_promise<stop_report> when_ended);

 private:
  enum class child_state : std::uint8_t { up, suspended, starting };
  struct child {
    any_ref actor;
    std::string name;
    restart_policy restart;
    base::duration stop_within;
    child_state state = child_state::up;
    bool asked = false;     ///< to suspend with its group, or to end if temporary
    bool stopping = false;  ///< told to end
    std::uint32_t restarts = 0;
    /// its own failures since it was up for longer than the window: the backoff's exponent
    std::uint32_t in_a_row = 0;
    base::instant up_since = base::instant::never();  ///< never: it is not up yet
    std::uint64_t alarm = 0;                          ///< serial of the awaited alarm
    timer deadline;  ///< the timer of that alarm, if the child must answer by then
    std::vector<response_promise<>> when_ended;
  };
  enum class activity : std::uint8_t { none, halting, waiting, starting, stopping };

  void on_child(cell& self, const signals::child_failed& report);
  void on_up(cell& self, const address& who);
  void on_alarm(cell& self, const signals::child_alarm& alarm);
  void on_suspended(cell& self, std::uint64_t place, const base::exit_reason& reason);
  void on_gone(cell& self, std::uint64_t place);

  [[nodiscard]] bool too_many(cell& self);
  [[nodiscard]] base::duration delay_for(child& c);
  void give_up(cell& self, const child& c, const base::exit_reason& reason);
  void give_up_waiting(cell& self, std::uint64_t place, const char* meanwhile, const char* what);
  void name_and_let_go(cell& self, child& c, const char* meanwhile);
  void start_child(cell& self, child& c, bool keep_mail);
  void halt_group(cell& self, std::uint64_t first, base::duration delay);
  void go_on_halting(cell& self);
  void begin_starting(cell& self);
  void go_on_starting(cell& self);
  void begin_stopping(cell& self);
  void go_on_stopping(cell& self);
  void tell_to_stop(cell& self, child& c);
  void all_stopped(cell& self);
  std::uint64_t set_alarm(cell& self, base::duration delay, std::uint64_t place,
                          timer* handle = nullptr);
  void set_deadline(cell& self, child& c);
  void wait_for_answer_of(const child& c) noexcept;
  /// Returns the child's place in the order; 0 if there is none.
  [[nodiscard]] std::uint64_t place_of(std::uint64_t id) const noexcept;

  supervision how_;
  base::random_source random_;
  /// by their place in the order of starting, from 1
  std::map<std::uint64_t, child> children_;
  std::shared_ptr<asked_child> asked_ = std::make_shared<asked_child>();
  std::unordered_map<std::uint64_t, std::uint64_t> places_;     ///< by the child's id
  std::set<std::pair<std::string_view, std::uint64_t>> names_;  ///< with their places
  std::uint64_t last_place_ = 0;
  std::deque<base::instant> failures_;  ///< within the window
  activity now_ = activity::none;
  std::uint64_t group_ = 0;  ///< the first child of the group that is being restarted
  /// a place in the order: while halting, all younger children are done; while starting, all older
  std::uint64_t reached_ = 0;
  base::duration group_delay_;
  std::uint64_t group_alarm_ = 0;
  std::uint64_t next_serial_ = 1;
  bool ends_actor_ = false;
  any_ref self_hold_;  ///< while the actor waits for its children to end
  std::vector<std::string> late_;
  std::vector<response_promise<stop_report>> when_stopped_;
};

}  // namespace garrick::core
