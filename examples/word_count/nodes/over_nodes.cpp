#include "over_nodes.hpp"

#include "../display.hpp"
#include "../walker.hpp"
#include "coordinator.hpp"
#include "interruption.hpp"

#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <random>
#include <stdexcept>
#include <system_error>

namespace word_count {

namespace {

/// A folder that only this user can open, for the socket.
class socket_folder {
 public:
  socket_folder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "word_count_XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr)
      throw std::system_error(errno, std::generic_category(), pattern);
    path_ = pattern;
  }
  ~socket_folder() { clear(); }
  socket_folder(const socket_folder&) = delete;
  socket_folder& operator=(const socket_folder&) = delete;
  void clear() const noexcept {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string socket() const { return "unix://" + path_ + "/office"; }

 private:
  std::string path_;
};

/// Throws the error of a failed result.
template <class Result>
void required(const Result& r) {
  if (!r) throw std::runtime_error(r.error().to_string());
}

}  // namespace

// [run]
outcome run_over_nodes(const job& what, std::uint32_t nodes, const std::string& program) {
  const auto begin = std::chrono::steady_clock::now();
  const interruption
      signals;  // a signal ends this process only after processes and folder have been removed
  const socket_folder folder;
  std::random_device random;
  node_processes others(program, {folder.socket(), random(), 0, 0, what.workers},
                        signals.mask_before());
  chaos fate(what.seed, 0);  // here processes are struck, not handlers
  garrick::settings o;
  o.scheduler.workers = what.workers;
  if (what.chaos_every != 0) o.log.level = garrick::system::log_level::off;
  garrick::actor_system system(o);
  std::optional<garrick::net::node> node(std::in_place, system, settings_of_node());
  required(node->listen(folder.socket()));
  const auto walker = system.spawn<walker_actor>(what.paths, what.unit_bytes, garrick::lent(&fate));
  const auto here = system.spawn<counting_actor>(garrick::ref<office_protocol>(), 1u, 1u);
  const auto coordinator = system.spawn<coordinator_actor>(
      coordinator_orders{walker, here, nodes, what.seed, what.chaos_every != 0},
      garrick::lent(&others), garrick::lent(&fate));
  required(node->publish(office_name, garrick::ref<office_protocol>(coordinator)));
  const interruption::watch watch(signals, [&] { system.exit(coordinator); });
  if (what.display != show::nothing)
    system.spawn<display_actor>(coordinator, what.display, garrick::lent(&fate));
  garrick::result<counted_by_nodes> done = system.request(coordinator, finish{}).get();
  // [/run]
  if (!done && signals.has_come()) {  // do not wait for a walk through a large folder
    others.wait({});
    folder.clear();
    signals.let_it_end();
  }
  outcome result;
  result.messages = fate.messages();
  result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  if (done) {
    result.words = std::move(done->words);
    result.what = std::move(done->what);
    result.changed = std::move(done->changed);
    result.nodes = std::move(done->nodes);
  } else {
    result.trouble = done.error().to_string();
  }
  node.reset();  // nodes that have not got `enough` end now
  static_cast<void>(system.shutdown(garrick::duration::seconds(1)));
  // Without a result, nodes need no time to end.
  others.wait(std::chrono::seconds(result.trouble.empty() ? 5 : 0));
  if (what.display == show::bar) clear_line();
  return result;
}

}  // namespace word_count
