// The values that the layers have set so far: a later layer wins over an earlier one, and variables
// change only when all values are valid.
//
// Thread safety: none.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "garrick/base/settings/setting_table.hpp"
#include "garrick/system/settings/internal/layers.hpp"
#include "garrick/system/settings/settings.hpp"

namespace garrick::system::internal {

/// Checked values of the keys of a table, each with its source.
class layered_values {
 public:
  /// Begins without any value. The table must outlive this object.
  explicit layered_values(const base::setting_table& table) : table_(table) {}

  /// Checks one setting and remembers it. Error: `errc::invalid_setting`.
  [[nodiscard]] base::result<void> take(const assignment& a);
  /// Takes the settings in order, up to the first that is refused.
  [[nodiscard]] base::result<void> take_all(const assignments& all);

  /// Writes the variables. A variable that no layer has set gets its default, whatever value an
  /// earlier load has left there. If values contradict each other, returns an error and changes
  /// nothing.
  [[nodiscard]] base::result<void> write() const;

  /// Returns every key with its value, which `write` has written, and its source.
  [[nodiscard]] std::vector<setting_report> report() const;

 private:
  [[nodiscard]] std::string_view source_of(std::string_view key) const;
  [[nodiscard]] base::result<void> take_section(const assignment& a) const;
  [[nodiscard]] base::result<void> no_such_key(const assignment& a) const;

  const base::setting_table& table_;
  /// value and source by key
  std::map<std::string_view, std::pair<base::setting_value, std::string>> found_;
};

/// Returns the part of a report that does not come from defaults.
[[nodiscard]] std::vector<setting_report> without_defaults(std::vector<setting_report> list);

}  // namespace garrick::system::internal
