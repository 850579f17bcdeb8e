// The output of tools/wire/decode.py for a capture: it is written from docs/wire.md alone.
#pragma once

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <support/in_child.hpp>
#include <support/transports.hpp>

#include "support/places.hpp"

namespace garrick::tests {

/// Returns the whole output. The decoder must understand the whole capture.
inline std::string decoded(const std::string& capture) {
  scratch_folder folder;
  const std::string path = folder.file("session.capture");
  std::ofstream(path) << capture;
  const auto [text, status] = in_child([&] {
    ::dup2(STDERR_FILENO, STDOUT_FILENO);
    ::execl(places::python, places::python, places::wire_decoder, path.c_str(), nullptr);
  });
  const bool understood = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  CHECK_MESSAGE(understood, text.substr(text.size() - std::min<std::size_t>(text.size(), 1000)));
  return text;
}

/// Returns its lines about the frames of one way, `a>b` or `b>a`: "response, to 00…, …".
inline std::vector<std::string> frames(const std::string& said, const std::string& way) {
  std::vector<std::string> all;
  const std::string mark = " " + way + " actor_protocol: in lane ";
  for (std::size_t at = said.find(mark); at != std::string::npos; at = said.find(mark, at)) {
    at = said.find(": ", at + mark.size()) + 2;
    all.push_back(said.substr(at, said.find('\n', at) - at));
  }
  return all;
}

/// Returns the number of these frames of each kind.
inline std::map<std::string, std::size_t> kinds_of(const std::vector<std::string>& frames) {
  std::map<std::string, std::size_t> all;
  for (const std::string& f : frames) ++all[f.substr(0, f.find(','))];
  return all;
}

}  // namespace garrick::tests
