// Names with a look-up that takes as long as a test likes. A program that includes this has a
// `getaddrinfo` of its own, which asks `gated_names` first.
#pragma once

#include <dlfcn.h>
#include <netdb.h>

#include <condition_variable>
#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace garrick::tests {

/// The system's function.
inline int systems_getaddrinfo(const char* name, const char* service, const addrinfo* hints,
                               addrinfo** found) {
  using function = int(const char*, const char*, const addrinfo*, addrinfo**);
  static const auto systems = reinterpret_cast<function*>(::dlsym(RTLD_NEXT, "getaddrinfo"));
  return systems(name, service, hints, found);
}

/// Look-ups of names that begin with "slow" wait until the gate is opened. Any thread.
class gated_names {
 public:
  /// Never destroyed: an abandoned look-up may begin when the program ends.
  [[nodiscard]] static gated_names& gate() {
    static gated_names& one = *new gated_names;
    return one;
  }
  [[nodiscard]] static bool knows(const char* name) {
    return name != nullptr && std::string_view(name).starts_with("slow");
  }
  /// Returns when the gate is open.
  void pass(const char* name) {
    std::unique_lock lock(mutex_);
    ++begun_[name];
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [this] { return is_open_; });
    --waiting_;
    changed_.notify_all();
  }

  void close() {
    const std::lock_guard lock(mutex_);
    is_open_ = false;
  }
  /// Lets all look-ups pass. Returns when none waits any more.
  void open() {
    std::unique_lock lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return waiting_ == 0; });
  }
  /// Returns when a look-up of this name has begun.
  void wait_for(const std::string& name) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return begun_[name] != 0; });
  }
  /// Returns how many look-ups of this name have begun. A test that counts has a name of its own,
  /// since a thread of an earlier test may be late.
  [[nodiscard]] std::size_t begun(const std::string& name) {
    const std::lock_guard lock(mutex_);
    return begun_[name];
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::string, std::size_t> begun_;
  std::size_t waiting_ = 0;
  bool is_open_ = false;
};

/// Closes the gate for a test case.
struct closed_gate {
  closed_gate() { gated_names::gate().close(); }
  ~closed_gate() { gated_names::gate().open(); }
  closed_gate(const closed_gate&) = delete;
  closed_gate& operator=(const closed_gate&) = delete;
};

}  // namespace garrick::tests
