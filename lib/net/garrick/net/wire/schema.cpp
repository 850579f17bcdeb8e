#include "garrick/net/wire/schema.hpp"

#include <algorithm>
#include <array>
#include <set>

#include "garrick/net/error.hpp"
#include "garrick/net/printable.hpp"

namespace garrick::net {
namespace {

constexpr std::uint32_t nowhere = ~std::uint32_t{0};

/// Returns a name, which another process may have chosen, for people.
std::string shown_name(std::string_view name) { return printable(name, most_printed_of_a_name); }

/// Returns a type's name for people.
std::string shown(const schema_type& t) {
  static constexpr std::array<std::string_view, 11> words{
      "a number", "an enumeration", "a class", "an aggregate", "a sequence", "a set",
      "a map",    "an array",       "a tuple", "an optional",  "a variant"};
  if (!t.name.empty()) return shown_name(t.name);
  std::string text(words[static_cast<std::size_t>(t.what)]);
  if (t.what == schema_kind::array) text += " of " + std::to_string(t.extent);
  if (t.what == schema_kind::product || t.what == schema_kind::variant)
    text += " of " + std::to_string(t.parts.size()) + (t.parts.size() == 1 ? " part" : " parts");
  return text;
}

/// Compares types of two schemas. Keeps a list of pairs and does not recurse, since another process
/// may have chosen the depth of its schema.
class comparison {
 public:
  comparison(const schema& a, const schema& b, bool may_grow) : a_(a), b_(b), may_grow_(may_grow) {}

  /// Returns the first difference of the types, as "root.2.0: this here, that there"; empty if
  /// there is none.
  [[nodiscard]] std::string difference(std::uint32_t a, std::uint32_t b, std::string_view root) {
    steps_.clear();
    reach(a, b, nowhere, 0);
    for (std::uint32_t at = 0; at != steps_.size(); ++at) {
      const step s = steps_[at];
      const schema_type& x = a_.types[s.a];
      const schema_type& y = b_.types[s.b];
      if (!alike(x, y)) return path(at, root) + ": " + shown(x) + " here, " + shown(y) + " there";
      const std::size_t common = std::min(x.parts.size(), y.parts.size());
      for (std::uint32_t i = 0; i != common; ++i) reach(x.parts[i], y.parts[i], at, i);
    }
    return {};
  }

 private:
  struct step {
    std::uint32_t a, b;
    std::uint32_t from;  ///< the step that led here
    std::uint32_t part;  ///< the part of that step's types
  };
  void reach(std::uint32_t a, std::uint32_t b, std::uint32_t from, std::uint32_t part) {
    if (seen_.emplace(a, b).second) steps_.push_back({a, b, from, part});
  }
  [[nodiscard]] bool alike(const schema_type& x, const schema_type& y) const {
    if (x.what != y.what || x.name != y.name || x.extent != y.extent) return false;
    return x.parts.size() == y.parts.size() || (may_grow_ && x.what == schema_kind::aggregate);
  }
  [[nodiscard]] std::string path(std::uint32_t at, std::string_view root) const {
    std::vector<std::uint32_t> parts;
    for (; steps_[at].from != nowhere; at = steps_[at].from) parts.push_back(steps_[at].part);
    std::string text(root);
    for (; !parts.empty(); parts.pop_back()) text += "." + std::to_string(parts.back());
    return text;
  }

  const schema& a_;
  const schema& b_;
  bool may_grow_;
  std::vector<step> steps_;
  std::set<std::pair<std::uint32_t, std::uint32_t>> seen_;
};

base::error incompatible(std::string_view text) {
  return base::make_error(net_errc::incompatible, printable(text));
}
base::error bad(std::string_view text) {
  return base::make_error(net_errc::decode_failed, "schema", printable(text));
}

/// Checks S3 and that fields which a kind does not have are empty.
bool has_right_parts(const schema_type& t) {
  if (t.name.empty() == detail::has_name(t.what)) return false;
  if (t.extent != 0 && t.what != schema_kind::array) return false;
  switch (t.what) {
    case schema_kind::number: return t.parts.empty();
    case schema_kind::enumeration:
    case schema_kind::sequence:
    case schema_kind::set:
    case schema_kind::array:
    case schema_kind::optional: return t.parts.size() == 1;
    case schema_kind::map: return t.parts.size() == 2;
    case schema_kind::variant: return !t.parts.empty();
    default: return true;
  }
}

/// Sorts the names. Returns one that is there more than once, or null. This costs two thirds of
/// a set, and another process chooses how many names there are.
const std::string_view* repeated(std::vector<std::string_view>& names) {
  std::ranges::sort(names);
  const auto at = std::ranges::adjacent_find(names);
  return at != names.end() ? &*at : nullptr;
}

/// Returns the schema without the types to which no signature leads; the signatures decide the
/// order of the others.
schema compacted(const schema& from) {
  schema to;
  std::vector<std::uint32_t> moved(from.types.size(), nowhere);
  std::vector<std::uint32_t> order;
  const auto place = [&](std::uint32_t old) {
    if (moved[old] == nowhere) {
      moved[old] = static_cast<std::uint32_t>(order.size());
      order.push_back(old);
    }
    return moved[old];
  };
  to.signatures = from.signatures;
  for (schema_signature& s : to.signatures) {
    s.message = place(s.message);
    for (std::uint32_t& part : s.answer) part = place(part);
  }
  for (std::size_t at = 0; at != order.size(); ++at) {
    to.types.push_back(from.types[order[at]]);
    for (std::uint32_t& part : to.types.back().parts) part = place(part);
  }
  return to;
}

}  // namespace

base::error check(const schema& s, const schema_limits& limits) {
  if (s.types.size() > limits.types) return bad("too many types");
  if (s.signatures.size() > limits.signatures) return bad("too many signatures");
  const auto exists = [&](std::uint32_t place) { return place < s.types.size(); };
  std::vector<std::string_view> names;
  for (const schema_type& t : s.types) {
    if (t.what > schema_kind::variant) return bad("a kind that does not exist");
    if (!has_right_parts(t)) return bad("a type with parts that its kind does not have");
    if (!std::ranges::all_of(t.parts, exists)) return bad("a part that does not exist");
    if (!t.name.empty()) names.push_back(t.name);
  }
  if (const auto* twice = repeated(names)) return bad("two types are called " + shown_name(*twice));
  std::vector<std::string_view> messages;
  for (const schema_signature& m : s.signatures) {
    if (!exists(m.message) || !std::ranges::all_of(m.answer, exists))
      return bad("a signature of a type that does not exist");
    messages.push_back(m.name);
  }
  if (const auto* twice = repeated(messages))
    return bad("two signatures for " + shown_name(*twice));
  return {};
}

base::result<schema> decode_schema(std::span<const std::byte> bytes, const schema_limits& limits) {
  // A type takes some bytes on the wire and ten times as many in memory.
  base::result<schema> s = decode<schema>(bytes, {.memory = 256 * (limits.types + 4096)});
  if (s)
    if (base::error e = check(*s, limits)) return e;
  return s;
}

base::error supports(const schema& expected, const schema& offered) {
  comparison compare(expected, offered, true);
  for (const schema_signature& e : expected.signatures) {
    const auto o = std::ranges::find(offered.signatures, e.name, &schema_signature::name);
    const std::string name = shown_name(e.name);
    if (o == offered.signatures.end()) return incompatible(name + " is not offered");
    if (const std::string d = compare.difference(e.message, o->message, name); !d.empty())
      return incompatible(d);
    if (e.answer.size() != o->answer.size())
      return incompatible("the answer to " + name + " has " + std::to_string(e.answer.size()) +
                          " values here, " + std::to_string(o->answer.size()) + " there");
    for (std::size_t i = 0; i != e.answer.size(); ++i) {
      const std::string root = "the answer to " + name + ", value " + std::to_string(i);
      if (const std::string d = compare.difference(e.answer[i], o->answer[i], root); !d.empty())
        return incompatible(d);
    }
  }
  return {};
}

std::pair<std::uint32_t, bool> schema_builder::begin(const type_begin& t) {
  const auto place = static_cast<std::uint32_t>(made_.types.size());
  const auto [at, is_new] = places_.emplace(t.tag, place);
  if (!is_new) return {at->second, false};
  if (!t.portable && unsayable_.empty()) unsayable_ = t.name;
  made_.types.push_back({t.kind, std::string(t.name), t.extent, {}});
  return {place, true};
}

void schema_builder::part(std::uint32_t of, std::uint32_t is) {
  made_.types[of].parts.push_back(is);
}

void schema_builder::sign(std::string_view name, std::uint32_t message,
                          std::vector<std::uint32_t> answer) {
  made_.signatures.push_back({std::string(name), message, std::move(answer)});
}

base::result<schema> schema_builder::finish() && {
  if (!unsayable_.empty())
    return base::make_error(net_errc::not_encodable, unsayable_,
                            "other programs cannot say this type's name");
  // To other programs `long` and `long long` are one type, and so are types made of either.
  std::map<std::string_view, std::uint32_t> first;
  std::vector<std::uint32_t> same(made_.types.size());
  for (std::uint32_t i = 0; i != same.size(); ++i) {
    same[i] = i;
    const std::string& name = made_.types[i].name;
    if (name.empty()) continue;
    same[i] = first.emplace(name, i).first->second;
    if (same[i] == i) continue;
    comparison exact(made_, made_, false);
    if (const std::string d = exact.difference(same[i], i, name); !d.empty())
      return incompatible("two types are called " + name + ", and differ: " + d);
  }
  for (schema_type& t : made_.types)
    for (std::uint32_t& part : t.parts) part = same[part];
  for (schema_signature& s : made_.signatures) {
    s.message = same[s.message];
    for (std::uint32_t& part : s.answer) part = same[part];
  }
  return compacted(made_);
}

base::error schema_table::add(const schema& s) {
  for (std::uint32_t i = 0; i != s.types.size(); ++i) {
    const auto known = names_.find(s.types[i].name);
    if (s.types[i].name.empty() || known == names_.end()) continue;
    comparison exact(all_[known->second.schema], s, false);
    if (const std::string d = exact.difference(known->second.type, i, known->first); !d.empty())
      return incompatible("two types are called " + known->first + ", and differ: " + d);
  }
  std::map<std::uint64_t, std::string> messages = messages_;
  for (const schema_signature& m : s.signatures) {
    const auto [at, is_new] = messages.emplace(type_id_of(m.name), m.name);
    if (!is_new && at->second != m.name)
      return incompatible(m.name + " and " + at->second + " have one number: rename one of them");
  }
  messages_ = std::move(messages);
  for (std::uint32_t i = 0; i != s.types.size(); ++i)
    if (!s.types[i].name.empty()) names_.try_emplace(s.types[i].name, place{all_.size(), i});
  all_.push_back(s);
  return {};
}

std::string_view schema_table::name_of(std::uint64_t type_id) const noexcept {
  const auto at = messages_.find(type_id);
  return at == messages_.end() ? std::string_view{} : std::string_view(at->second);
}

}  // namespace garrick::net
