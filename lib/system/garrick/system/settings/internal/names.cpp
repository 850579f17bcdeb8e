#include "garrick/system/settings/internal/names.hpp"

namespace garrick::system::internal {

std::string section_of(std::string_view key) { return std::string(key.substr(0, key.find('.'))); }

std::string variable_of(std::string_view key) {
  std::string name = "GARRICK_";
  for (const char c : key)
    name += c == '.' ? '_' : (c >= 'a' && c <= 'z') ? static_cast<char>(c - 'a' + 'A') : c;
  return name;
}

std::vector<std::string> keys_of(const base::setting_table& table) {
  std::vector<std::string> keys;
  for (const base::setting& row : table.rows()) keys.emplace_back(row.key);
  return keys;
}

std::string section_of_variable(std::string_view name) {
  std::string section;
  for (const char c : name.substr(std::string_view("GARRICK_").size())) {
    if (c == '_') break;
    section += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return section;
}

}  // namespace garrick::system::internal
