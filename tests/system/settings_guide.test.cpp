// The guide's table of settings is the table that the program works with.
#include <doctest/doctest.h>
#include <garrick/base/settings/setting_table.hpp>
#include <garrick/garrick.hpp>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace {

using namespace garrick;

const std::filesystem::path source_tree = GARRICK_SOURCE_TREE;

std::string default_text(const base::setting_table& table, const base::setting& row) {
  // what this build was made as decides
  if (row.key == "requests.detect_cycles") return "in debug builds";
  const std::string text = to_text(row, table.default_of(row));
  return text.empty() ? "" : "`" + text + "`";
}

std::string markdown() {
  settings fresh;
  base::setting_table table;
  system::add_settings(table, fresh);
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

bool file_names(const std::filesystem::path& path, const std::string& word) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return text.find(word) != std::string::npos;
}

/// Whether a file, or some file of a folder, has the word.
bool is_named_in(const std::filesystem::path& where, const std::string& word) {
  if (!std::filesystem::is_directory(where)) return file_names(where, word);
  for (const auto& entry : std::filesystem::directory_iterator(where))
    if (entry.is_regular_file() && file_names(entry.path(), word)) return true;
  return false;
}

}  // namespace

TEST_CASE("guide 12 has the row of every setting as the table has it") {
  std::ifstream file(source_tree / "docs/guide/12-settings.md");
  REQUIRE(file.good());
  const std::string guide{std::istreambuf_iterator<char>(file), {}};
  const std::string begin = "<!-- settings: begin -->\n";
  const std::size_t from = guide.find(begin);
  const std::size_t to = guide.find("<!-- settings: end -->");
  REQUIRE(from != std::string::npos);
  REQUIRE(to != std::string::npos);
  const std::string wanted = "\n" + markdown() + "\n";
  INFO("between the two lines there must be:\n" << wanted);
  CHECK(guide.substr(from + begin.size(), to - from - begin.size()) == wanted);
}

TEST_CASE("every setting is used where its row says") {
  settings fresh;
  base::setting_table table;
  system::add_settings(table, fresh);
  for (const base::setting& row : table.rows()) {
    CAPTURE(row.key);
    const std::string used(row.used);
    CAPTURE(used);
    const std::string part = used.substr(0, used.find('/'));
    const std::string key(row.key);
    const std::string field = key.substr(key.rfind('.') + 1);
    CHECK(is_named_in(source_tree / "lib" / part / "garrick" / used, field));
  }
}
