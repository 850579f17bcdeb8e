// Shows the progress of a stream, and the speed of its stages, on a terminal.
//
//   auto h = spawn(system, pipeline(lines_of(path), split, farm(count).by_key(&word::text)));
//   show_progress(system, h, {.expected = lines, .counted = "split"});
//
//   [##############.....................]  42 %  split 310 000/s, count 2 900 000/s
//
// Thread safety: `show_progress` may be called where `spawn` may be called.
#pragma once

#include <garrick/garrick.hpp>
#include <garrick/patterns/stream.hpp>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <utility>

namespace garrick::patterns {

/// The content, the place and the interval of the progress line.
struct progress_options {
  using garrick_sendable = void;  ///< the file is open until the stream has ended
  /// Tuples that the stage `counted` will take; 0: unknown, so there is no bar.
  std::uint64_t expected = 0;
  /// The stage whose tuples count for the bar; empty: the last one.
  std::string counted{};
  duration every = duration::milliseconds(200);  ///< between two looks, above zero
  std::size_t columns = 79;                      ///< of the line, at most
  std::FILE* to = stderr;                        ///< nothing is shown if it is not a terminal
};

/// Returns one line: a bar, if the number of tuples is known, and then the tuples that each stage
/// takes a second. Stages for which there is no room are left out, and then the bar.
[[nodiscard]] std::string progress_line(const stream_report& before, const stream_report& now,
                                        duration between, const progress_options& o);

namespace detail {

/// Tells the actor that shows the line to look again.
struct look_again {};
using reporting = protocol<stream_report(get_report)>;

class progress_actor final : public actor<protocol<void(look_again)>> {
 public:
  progress_actor(weak_ref<reporting> stream, progress_options o);
  void on_start();
  void on(look_again);
  void on_exit(const exit_reason& why);

 private:
  void draw(const stream_report& now);

  weak_ref<reporting> stream_;
  const progress_options options_;
  stream_report before_;
  instant looked_{};
  ref<protocol<void(look_again)>> me_;  ///< the only handle: it keeps the actor alive
  bool asked_ = false;
  bool drawn_ = false;
};

[[nodiscard]] bool is_terminal(std::FILE* file) noexcept;

}  // namespace detail

/// Shows the stream's progress in one line, until it has ended or no handle is left. Keeps neither
/// the stream nor the system alive. Nothing happens if `o.to` is not a terminal. An actor writes
/// the line, on one of the system's workers. Throws std::invalid_argument if `o.every` is not above
/// zero.
///
///     show_progress(system, h, {.expected = 1'000'000});
template <class Spawner, class P>
void show_progress(Spawner& from, const ref<P>& stream, progress_options o = {}) {
  if (o.every.count() <= 0)
    throw std::invalid_argument("garrick: show_progress: every is " + o.every.to_string() +
                                "; it must be above zero");
  if (!detail::is_terminal(o.to)) return;
  static_cast<void>(from.template spawn<detail::progress_actor>(
      weak_ref<detail::reporting>(ref<detail::reporting>(stream)), std::move(o)));
}

}  // namespace garrick::patterns
