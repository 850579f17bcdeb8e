#include "garrick/system/settings/internal/layered_values.hpp"

#include "garrick/system/settings/internal/names.hpp"

namespace garrick::system::internal {

using base::result;
using base::setting;
using base::setting_kind;
using base::setting_value;

namespace {

constexpr std::string_view from_default = "default";

/// Returns true if the value has the setting's type in JSON, or is text from another layer, which
/// has no type.
bool type_fits(const setting& row, const raw_value& value) {
  using kind = raw_value::kind;
  if (value.type == kind::untyped) return true;
  switch (row.target.kind()) {
    case setting_kind::boolean: return value.type == kind::boolean;
    case setting_kind::count:
      return value.type == kind::integer || (value.type == kind::text && value.text == "unlimited");
    case setting_kind::integer: return value.type == kind::integer;
    case setting_kind::real: return value.type == kind::integer || value.type == kind::real;
    case setting_kind::text:
    case setting_kind::choice:
    case setting_kind::time: return value.type == kind::text;
  }
  return false;
}

/// Returns the value's type in JSON, for errors; text from other layers has no type.
std::string_view type_name(raw_value::kind type) {
  switch (type) {
    case raw_value::kind::boolean: return "boolean";
    case raw_value::kind::integer:
    case raw_value::kind::real: return "number";
    case raw_value::kind::text: return "text";
    default: return {};
  }
}

}  // namespace

result<void> layered_values::take(const assignment& a) {
  if (a.value.type == raw_value::kind::section) return take_section(a);
  const setting* const row = table_.find(a.key);
  if (row == nullptr) return no_such_key(a);
  if (!type_fits(*row, a.value))
    return refuse(a.where, wrong_type(*row, a.value.text, type_name(a.value.type)).why);
  const auto value = parse(*row, a.value.text);
  if (!value) return refuse(a.where, wrong_type(*row, a.value.text).why);
  if (const auto refused = check(*row, *value)) return refuse(a.where, refused->why);
  found_[row->key] = {*value, a.where};
  return {};
}

result<void> layered_values::take_all(const assignments& all) {
  for (const assignment& a : all)
    if (auto taken = take(a); !taken) return taken;
  return {};
}

result<void> layered_values::write() const {
  std::vector<setting_value> before;
  for (const setting& row : table_.rows()) before.push_back(value_of(row));
  for (const setting& row : table_.rows()) {
    const auto found = found_.find(row.key);
    store(row, found == found_.end() ? table_.default_of(row) : found->second.first);
  }
  const auto refused = table_.first_refused();
  if (!refused) return {};
  for (std::size_t i = 0; i < before.size(); ++i) store(table_.rows()[i], before[i]);
  return refuse(source_of(found_.contains(refused->key) ? refused->key : refused->other),
                refused->why);
}

std::vector<setting_report> layered_values::report() const {
  std::vector<setting_report> list;
  for (const setting& row : table_.rows())
    list.push_back(
        {std::string(row.key), to_text(row, value_of(row)), std::string(source_of(row.key))});
  return list;
}

std::string_view layered_values::source_of(std::string_view key) const {
  const auto found = found_.find(key);
  return found == found_.end() ? from_default : std::string_view(found->second.second);
}

result<void> layered_values::take_section(const assignment& a) const {
  if (table_.has_section(a.key)) return {};
  if (table_.find(a.key) != nullptr)
    return refuse(a.where, "the key '" + a.key + "' wants a value, not a section");
  if (base::error e = refuse_absent_part(a.where, a.key, keys_of(table_))) return e;
  std::vector<std::string> sections;
  for (const setting& row : table_.rows()) sections.push_back(section_of(row.key));
  return unknown_key(a.where, "section", a.key, "", sections);
}

result<void> layered_values::no_such_key(const assignment& a) const {
  if (table_.has_section(a.key))
    return refuse(a.where,
                  "'" + a.key + "' is a section: { \"" + a.key + "\": { \"key\": value } }");
  const std::vector<std::string> keys = keys_of(table_);
  if (base::error e = refuse_absent_part(a.where, section_of(a.key), keys)) return e;
  return unknown_key(a.where, "key", a.key, "", keys);
}

std::vector<setting_report> without_defaults(std::vector<setting_report> list) {
  std::erase_if(list, [](const setting_report& r) { return r.source == from_default; });
  return list;
}

}  // namespace garrick::system::internal
