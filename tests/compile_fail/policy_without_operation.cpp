// expect: all.{}(|seen.{}(|Policy::{}
// each: worker_data name worker central_enqueue external_enqueue internal_enqueue resume_later dequeue before_resume after_resume
// each: after_completion claim expose wants_helper helper request_stop drain_one statistics describe
#include <garrick/sched/policies/policy.hpp>

#include <string>

using garrick::base::runnable;

struct data {};

// All that a policy needs, but one operation.
class forgetful {
 public:
  explicit forgetful(const garrick::sched::policy_options&) {}
#ifndef GARRICK_WITHOUT_worker_data
  using worker_data = data;
#endif
#ifndef GARRICK_WITHOUT_name
  static constexpr std::string_view name = "forgetful";
#endif
#ifndef GARRICK_WITHOUT_worker
  data& worker(std::uint32_t) noexcept { return data_; }
#endif
#ifndef GARRICK_WITHOUT_central_enqueue
  void central_enqueue(runnable&) noexcept {}
#endif
#ifndef GARRICK_WITHOUT_external_enqueue
  void external_enqueue(data&, runnable&) noexcept {}
#endif
#ifndef GARRICK_WITHOUT_internal_enqueue
  void internal_enqueue(data&, runnable&) noexcept {}
#endif
#ifndef GARRICK_WITHOUT_resume_later
  void resume_later(data&, runnable&) noexcept {}
#endif
#ifndef GARRICK_WITHOUT_dequeue
  runnable* dequeue(data&) noexcept { return nullptr; }
#endif
#ifndef GARRICK_WITHOUT_before_resume
  std::uint32_t before_resume(data&, runnable&) noexcept { return 1; }
#endif
#ifndef GARRICK_WITHOUT_after_resume
  void after_resume(data&, std::uint32_t) noexcept {}
#endif
#ifndef GARRICK_WITHOUT_after_completion
  void after_completion(data&) noexcept {}
#endif
#ifndef GARRICK_WITHOUT_claim
  bool claim(data&, runnable&) noexcept { return false; }
#endif
#ifndef GARRICK_WITHOUT_expose
  void expose(data&) noexcept {}
#endif
#ifndef GARRICK_WITHOUT_wants_helper
  bool wants_helper() const noexcept { return false; }
#endif
#ifndef GARRICK_WITHOUT_helper
  void helper() noexcept {}
#endif
#ifndef GARRICK_WITHOUT_request_stop
  void request_stop() noexcept {}
#endif
#ifndef GARRICK_WITHOUT_drain_one
  runnable* drain_one() noexcept { return nullptr; }
#endif
#ifndef GARRICK_WITHOUT_statistics
  garrick::sched::scheduler_stats statistics() const noexcept { return {}; }
#endif
#ifndef GARRICK_WITHOUT_describe
  std::string describe() const { return {}; }
#endif

 private:
  data data_;
};

static_assert(garrick::sched::scheduling_policy<forgetful>);
