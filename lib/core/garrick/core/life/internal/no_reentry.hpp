// A scope in which an actor gives up its data: no other actor may run inside it.
//
// Thread safety: the thread that made it.
#pragma once

#include <garrick/base/concurrency/thread_state.hpp>
#include <garrick/base/values/error.hpp>
#include <garrick/core/cell/thread_context.hpp>

namespace garrick::core {

/// While it lives, this thread neither waits for a mailbox nor runs another actor in place, and
/// dropped promises answer `why`, which has to live as long.
class no_reentry {
 public:
  explicit no_reentry(const base::error& why) noexcept : saved_(detail::here.drop_reason) {
    ++base::this_thread.no_wait;
    ++base::this_thread.no_in_place;
    detail::here.drop_reason = &why;
  }
  ~no_reentry() {
    --base::this_thread.no_wait;
    --base::this_thread.no_in_place;
    detail::here.drop_reason = saved_;
  }
  no_reentry(const no_reentry&) = delete;
  no_reentry& operator=(const no_reentry&) = delete;

 private:
  const base::error* saved_;
};

}  // namespace garrick::core
