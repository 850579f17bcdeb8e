// The files to be read: those below some paths, cut into units, and the paths that cannot be read
// with the reason.
//
// A plan depends on the paths and the disk alone. An actor that makes it twice gets the same units
// with the same numbers; so an actor that lost everything can begin again.
//
// Thread safety: values and pure functions of the disk.
#pragma once

#include "words/markup.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace word_count {

struct source {
  std::string path;
  std::uint64_t bytes = 0;
  std::int64_t modified = 0;  ///< when, by the clock of the file system
  form how = form::plain;
};

/// A piece of a file. Of a plain text: the tokens (between white space) that begin in [offset,
/// offset + length). Of markup: exactly these bytes; such a file is cut only where no word, tag,
/// comment or script is open, so a unit may be as long as the longest of them.
struct unit {
  std::uint32_t file = 0;
  std::uint64_t offset = 0;
  std::uint64_t length = 0;  ///< bytes
};

/// A path that is not counted, and why.
struct problem {
  std::string path;
  std::string why;
};

struct plan {
  std::vector<source> files;
  std::vector<unit> units;
  std::vector<problem> problems;
  std::uint64_t bytes = 0;
  std::uint64_t fingerprint = 0;  ///< of files, their state and units
};

/// Walks the paths in order, folders sorted by name. Symbolic links are followed for the paths
/// themselves, not below them. A file that two paths lead to is read once.
[[nodiscard]] plan make_plan(const std::vector<std::string>& paths, std::uint32_t unit_bytes);

struct piece {
  std::string text;
  form how = form::plain;
  std::string trouble;  ///< why nothing could be read; empty: all went well
};

/// Reads one unit.
[[nodiscard]] piece read_piece(const std::string& path, form how, std::uint64_t offset,
                               std::uint64_t length);

/// Returns the plan's files that have changed since the plan was made: gone, unreadable, of another
/// size or written to.
[[nodiscard]] std::vector<problem> changes(const plan& known);

}  // namespace word_count
