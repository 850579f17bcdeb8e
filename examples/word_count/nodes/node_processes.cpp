#include "node_processes.hpp"

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <system_error>
#include <thread>

extern char** environ;  // NOLINT: the system's

namespace word_count {

namespace {

// Returns true if the process has ended. `flags` are those of waitpid.
bool has_ended(pid_t process, int flags) noexcept {
  pid_t ended = 0;
  do { ended = ::waitpid(process, nullptr, flags); } while (ended < 0 && errno == EINTR);
  return ended != 0;
}

}  // namespace

node_processes::~node_processes() { wait({}); }

void node_processes::start(std::uint32_t node, std::uint32_t life) {
  node_arguments a = like_;
  a.node = node;
  a.life = life;
  std::vector<std::string> words = a.words();
  words.insert(words.begin(), program_);
  std::vector<char*> argv;
  for (std::string& w : words) argv.push_back(w.data());
  argv.push_back(nullptr);
  children_.reserve(children_.size() + 1);  // memory first, so that a started process has its entry
  posix_spawnattr_t how;
  ::posix_spawnattr_init(&how);
  ::posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK);
  ::posix_spawnattr_setsigmask(&how, &blocked_);
  pid_t made = 0;
  const int error = ::posix_spawn(&made, program_.c_str(), nullptr, &how, argv.data(), environ);
  ::posix_spawnattr_destroy(&how);
  if (error != 0)
    throw std::system_error(error, std::generic_category(), program_ + " cannot be started");
  children_.push_back({node, made});
}

void node_processes::kill(std::uint32_t node) noexcept {
  if (const pid_t process = pid(node)) ::kill(process, SIGKILL);
}

pid_t node_processes::pid(std::uint32_t node) const noexcept {
  for (const child& c : children_)
    if (c.node == node) return c.pid;
  return 0;
}

std::vector<std::uint32_t> node_processes::take_ended() {
  std::vector<std::uint32_t> ended;
  ended.reserve(children_.size());
  std::erase_if(children_, [&](const child& c) {
    if (!has_ended(c.pid, WNOHANG)) return false;
    ended.push_back(c.node);
    return true;
  });
  return ended;
}

void node_processes::wait(std::chrono::milliseconds limit) noexcept {
  const auto until = std::chrono::steady_clock::now() + limit;
  for (const child& c : children_) {
    while (!has_ended(c.pid, WNOHANG)) {
      if (std::chrono::steady_clock::now() < until) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
        continue;
      }
      ::kill(c.pid, SIGKILL);
      static_cast<void>(has_ended(c.pid, 0));
      break;
    }
  }
  children_.clear();
}

std::string this_program(const char* name) {
  constexpr const char* self = "/proc/self/exe";
  return ::access(self, X_OK) == 0 ? self : name;
}

}  // namespace word_count
