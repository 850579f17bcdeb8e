// The files below some paths, cut into units, and the paths that cannot be read, each with the
// reason.
//
// A plan depends only on the paths and the disk. An actor that makes it twice gets the same units
// with the same numbers, so a restarted actor can make it again.
//
// Thread safety: values, and functions that depend only on the disk.
#pragma once

#include "words/markup.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace word_count {

struct source {
  std::string path;
  std::uint64_t bytes = 0;
  std::int64_t modified = 0;  ///< the time of the last change, by the file system's clock
  form how = form::plain;
};

/// A piece of a file. A unit of plain text contains the tokens (between white space) that begin in
/// [offset, offset + length). A unit of markup contains exactly these bytes: such a file is cut
/// only where no word, tag, comment or script is open, so a unit may be as long as the longest of
/// them.
struct unit {
  std::uint32_t file = 0;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;  ///< bytes
};

/// A path that is not counted, and the reason.
struct problem {
  std::string path;
  std::string why;
};

struct plan {
  std::vector<source> files;
  std::vector<unit> units;
  std::vector<problem> problems;
  std::uint64_t bytes = 0;
  std::uint64_t fingerprint = 0;  ///< a hash of the files, their state and their units
};

/// Walks the paths in order, and folders sorted by name. Follows symbolic links given as paths, but
/// not those below them. A file that two paths lead to is in the plan once.
[[nodiscard]] plan make_plan(const std::vector<std::string>& paths, std::uint32_t unit_bytes);

struct piece {
  std::string text;
  form how = form::plain;
  std::string trouble;  ///< the reason why nothing could be read; empty: no error
};

/// Reads one unit.
[[nodiscard]] piece read_piece(const std::string& path, form how, std::uint64_t offset,
                               std::uint64_t length);

/// Returns the plan's files that have changed since the plan was made: gone, unreadable, of another
/// size or written to.
[[nodiscard]] std::vector<problem> changes(const plan& known);

}  // namespace word_count
