// Actors on a foreign event loop: Asio's, a window system's, a program's own. They run where the
// loop runs its callbacks, so they may use objects that belong to the loop's thread.
//
//   boost::asio::io_context io;
//   loop_executor loop([&io](loop_job job) { boost::asio::post(io, job); });
//   const auto a = system.spawn<connection>(spawn_options{.executor = &loop});
//   io.run();   // the actor's handlers run in here
//
// Guarantees: an actor runs only in jobs that the loop calls, one job at a time for each actor, and
// a job handles a bounded number of messages. A loop of one thread therefore runs all its actors on
// that thread. A handler on a loop never waits for a full mailbox, since the loop must not stop:
// the mailbox grows, up to its hard limit. `get()`, which would wait for an answer, returns the
// error `would_block`.
//
// The loop has to run until the system has ended, since an actor on it ends in a job, too. So
// another thread waits for the end:
//
//   std::thread end([&] { system.shutdown(duration::seconds(10)); io.stop(); });
//   io.run();
//   end.join();
//
// Thread safety: stated for each function.
#pragma once

#include <garrick/base/concurrency/runnable.hpp>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>

namespace garrick::core {

class loop_executor;

/// A job for a loop, which calls it once, on one of its threads. A job can be copied, but only one
/// of the copies may be called. If a job is dropped uncalled, its actor never runs again. In a
/// forked child, a job of the parent's system ends the process with a message.
class loop_job {
 public:
  /// For the framework: makes a job that runs the actor once.
  loop_job(loop_executor& loop, base::runnable& actor) noexcept : loop_(&loop), actor_(&actor) {}
  /// Lets the actor handle its mail, up to a number of messages; an actor with more is posted
  /// again.
  void operator()() const noexcept;

 private:
  loop_executor* loop_;
  base::runnable* actor_;
};

/// Runs actors on an event loop: `spawn_options{.executor = &loop}`. The executor and the loop must
/// outlive the actor system.
///
///     loop_executor loop([&io](loop_job job) { boost::asio::post(io, job); });
class loop_executor final : public base::executor {
 public:
  /// Makes an executor for a loop: `post(job)` hands a job to the loop, which calls it later, and
  /// never inside `post`. A job handles at most `messages` messages. Any thread may call `post`;
  /// the caller holds no lock. An exception of `post` ends the program. Throws std::logic_error for
  /// an empty function, and std::bad_alloc.
  template <class Post>
  explicit loop_executor(Post post, std::uint32_t messages = 64)
      : post_(std::make_unique<posts<Post>>(std::move(post))),
        messages_(messages == 0 ? 1 : messages) {
    if constexpr (std::is_pointer_v<Post> || requires(const Post& p) { p.operator bool(); })
      if (!static_cast<bool>(static_cast<posts<Post>&>(*post_).post))
        throw std::logic_error("garrick: loop_executor: the function that posts a job is empty");
  }
  loop_executor(const loop_executor&) = delete;
  loop_executor& operator=(const loop_executor&) = delete;
  ~loop_executor() = default;

  /// For the framework: posts a job for an actor with mail.
  void schedule(base::runnable& actor) noexcept override;
  /// For the framework: returns false, since the loop keeps its jobs.
  bool claim(base::runnable&) noexcept override { return false; }
  /// For the framework: does nothing, since no actor is hidden here.
  void expose() noexcept override {}

 private:
  friend class loop_job;
  void run(base::runnable& actor) noexcept;

  struct any_post {
    virtual ~any_post() = default;
    virtual void call(loop_job job) = 0;
  };
  template <class Post>
  struct posts final : any_post {
    explicit posts(Post p) : post(std::move(p)) {}
    void call(loop_job job) override { post(job); }
    Post post;
  };

  // constant; `post_` is called by any thread
  std::unique_ptr<any_post> post_;
  std::uint32_t messages_;
};

}  // namespace garrick::core
