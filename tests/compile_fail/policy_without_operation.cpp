// expect: resume_later
#include <garrick/sched/worker_pool.hpp>

#include <string>

using garrick::base::runnable;

// All that a policy needs, but one operation.
class forgetful {
 public:
  static constexpr std::string_view name = "forgetful";
  struct worker_data {};
  explicit forgetful(const garrick::sched::policy_options&) {}
  worker_data& worker(std::uint32_t) noexcept { return data_; }
  void central_enqueue(runnable&) noexcept {}
  void external_enqueue(worker_data&, runnable&) noexcept {}
  void internal_enqueue(worker_data&, runnable&) noexcept {}
#ifdef GARRICK_CONTROL
  void resume_later(worker_data&, runnable&) noexcept {}
#endif
  runnable* dequeue(worker_data&) noexcept { return nullptr; }
  std::uint32_t before_resume(worker_data&, runnable&) noexcept { return 1; }
  void after_resume(worker_data&, std::uint32_t) noexcept {}
  void after_completion(worker_data&) noexcept {}
  bool claim(worker_data&, runnable&) noexcept { return false; }
  void expose(worker_data&) noexcept {}
  bool wants_helper() const noexcept { return false; }
  void helper() noexcept {}
  void request_stop() noexcept {}
  runnable* drain_one() noexcept { return nullptr; }
  garrick::sched::scheduler_stats statistics() const noexcept { return {}; }
  std::string describe() const { return {}; }

 private:
  worker_data data_;
};

static_assert(garrick::sched::scheduling_policy<forgetful>);
