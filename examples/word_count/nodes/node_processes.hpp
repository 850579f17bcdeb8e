// Starts, kills and waits for the processes of the other nodes.
//
// Thread safety: one thread at a time.
//
// Invariant: each process that was started is waited for, at the latest by the destructor.
#pragma once

#include "counting_node.hpp"

#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <string>
#include <vector>

namespace word_count {

class node_processes {
 public:
  /// The processes execute the file `program` with the arguments `like`, except for their number
  /// and life. `blocked` are the signals that are blocked at their start.
  node_processes(std::string program, node_arguments like, const sigset_t& blocked)
      : program_(std::move(program)), like_(std::move(like)), blocked_(blocked) {}
  /// Kills the remaining processes.
  ~node_processes();
  node_processes(const node_processes&) = delete;
  node_processes& operator=(const node_processes&) = delete;

  /// Starts this node's next life. Throws std::system_error.
  void start(std::uint32_t node, std::uint32_t life);
  /// Kills the process (SIGKILL); does nothing if it has ended.
  void kill(std::uint32_t node) noexcept;
  /// Returns the process of this node; 0 if none runs.
  [[nodiscard]] pid_t pid(std::uint32_t node) const noexcept;
  /// Returns the nodes with processes that have ended since the last call.
  [[nodiscard]] std::vector<std::uint32_t> take_ended();
  /// Waits until all processes have ended; kills the remaining ones after the limit.
  void wait(std::chrono::milliseconds limit) noexcept;

 private:
  struct child {
    std::uint32_t node;
    pid_t pid;
  };
  std::string program_;
  node_arguments like_;
  sigset_t blocked_;
  std::vector<child> children_;
};

/// Returns the file of this process's program, for nodes with the same program.
[[nodiscard]] std::string this_program(const char* name);

}  // namespace word_count
