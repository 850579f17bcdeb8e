// The rows of a table of settings as guide 12 has them, and whether each is used where it says.
#pragma once

#include <doctest/doctest.h>
#include <garrick/base/settings/setting_table.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace garrick::tests {

inline std::string default_text(const base::setting_table& table, const base::setting& row) {
  // the kind of this build decides
  if (row.key == "requests.detect_cycles") return "in debug builds";
  const std::string text = to_text(row, table.default_of(row));
  return text.empty() ? "" : "`" + text + "`";
}

inline std::string markdown_of(const base::setting_table& table) {
  std::string text = "| key | | wants | default | used in |\n|---|---|---|---|---|\n";
  for (const base::setting& row : table.rows()) {
    std::string wants = expectation(row);
    // Markdown would read these as tags
    for (std::size_t at = 0; (at = wants.find_first_of("<>", at)) != std::string::npos; at += 2)
      wants.insert(at, "\\");
    text.append("| `").append(row.key).append("` | ").append(row.help).append(" | ");
    text.append(wants).append(" | ").append(default_text(table, row)).append(" | `");
    text.append(row.used).append("` |\n");
  }
  return text;
}

inline std::string text_of_file(const std::filesystem::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Whether a file, or some file of a folder, has the word.
inline bool is_named_in(const std::filesystem::path& where, const std::string& word) {
  const auto has = [&](const std::filesystem::path& file) {
    return text_of_file(file).find(word) != std::string::npos;
  };
  if (!std::filesystem::is_directory(where)) return has(where);
  for (const auto& entry : std::filesystem::directory_iterator(where))
    if (entry.is_regular_file() && has(entry.path())) return true;
  return false;
}

/// Between `<!-- NAME: begin -->` and `<!-- NAME: end -->` guide 12 has the rows of this table.
inline void check_guide(const std::filesystem::path& tree, const std::string& name,
                        const base::setting_table& table) {
  const std::string guide = text_of_file(tree / "docs/guide/12-all-keys.md");
  const std::string begin = "<!-- " + name + ": begin -->\n";
  const std::size_t from = guide.find(begin);
  const std::size_t to = guide.find("<!-- " + name + ": end -->");
  REQUIRE(from != std::string::npos);
  REQUIRE(to != std::string::npos);
  const std::string wanted = "\n" + markdown_of(table) + "\n";
  INFO("between the two lines there must be:\n" << wanted);
  CHECK(guide.substr(from + begin.size(), to - from - begin.size()) == wanted);
}

/// Returns the name that a layer has in settings, by the name of its file. Two of them are called
/// there as on the wire.
inline std::string name_in_settings(const std::string& file) {
  if (file == "session") return "failure_detection";
  if (file == "redelivery") return "reconnect";
  return file;
}

/// Checks that each setting is used where its row says.
inline void check_uses(const std::filesystem::path& tree, const base::setting_table& table) {
  for (const base::setting& row : table.rows()) {
    CAPTURE(row.key);
    const std::string used(row.used);
    CAPTURE(used);
    const std::string part = used.substr(0, used.find('/'));
    const std::string key(row.key);
    std::string field = key.substr(key.rfind('.') + 1);
    // Of a layer: the field is the part behind the layer's name in settings.
    const std::string layer = name_in_settings(std::filesystem::path(used).stem().string()) + "_";
    if (field.starts_with(layer)) field = field.substr(layer.size());
    CHECK(is_named_in(tree / "lib" / part / "garrick" / used, field));
  }
}

}  // namespace garrick::tests
