// Cuts a stream into lines, without I/O. The lines do not depend on the pieces in which the stream
// arrives. An unfinished line is kept, but no more bytes of it than a line may have.
//
// Thread safety: none.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>

/// A line without its end, which is "\n" or "\r\n".
struct line {
  std::string_view text;  ///< valid during the call; empty if the line is too long
  bool too_long = false;
};

/// The splitter of one stream.
class line_splitter {
 public:
  /// `longest`: the most bytes of a line, without its end.
  explicit line_splitter(std::size_t longest) : longest_(longest) {}

  /// Calls `f(line)` for each line that ends in these bytes. A line that is too long is reported as
  /// soon as it exceeds the limit, and then skipped up to its end: the lines after it are not lost.
  template <class F>
  void feed(std::string_view bytes, F f) {
    while (!bytes.empty()) {
      const std::size_t end = bytes.find('\n');
      const bool ends = end != bytes.npos;
      const std::string_view piece = bytes.substr(0, end);
      bytes.remove_prefix(ends ? end + 1 : bytes.size());
      if (skips_) {
        skips_ = !ends;
        continue;
      }
      std::string_view all = piece;
      if (!kept_.empty()) all = kept_.append(piece.substr(0, longest_ + 2 - kept_.size()));
      if (ends && all.ends_with('\r')) all.remove_suffix(1);
      const bool may_end_so = !ends && all.size() == longest_ + 1 && all.back() == '\r';
      if (all.size() > longest_ && !may_end_so) {
        skips_ = !ends;
        f(line{{}, true});
        kept_.clear();
      } else if (ends) {
        f(line{all});
        kept_.clear();
      } else if (kept_.empty()) {
        kept_ = piece;
      }
    }
  }
  /// Returns true if bytes have arrived after the last line's end.
  [[nodiscard]] bool is_within_line() const { return skips_ || !kept_.empty(); }
  /// Returns the number of kept bytes.
  [[nodiscard]] std::size_t kept() const { return kept_.size(); }

 private:
  std::size_t longest_;
  std::string kept_;    ///< the beginning of a line, at most longest_ + 1 bytes
  bool skips_ = false;  ///< true: skips the rest of a line that is too long
};
