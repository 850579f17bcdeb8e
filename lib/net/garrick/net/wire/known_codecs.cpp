#include "garrick/net/wire/known_codecs.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <typeinfo>
#include <utility>

#include "garrick/net/printable.hpp"

namespace garrick::net {
namespace {

constexpr std::string_view beyond_limits = "foreign";

class stand_in final : public base::error_category {
 public:
  explicit stand_in(std::string_view name) : name_(name) {}
  [[nodiscard]] std::string_view name() const noexcept override { return name_; }
  [[nodiscard]] std::string message(std::uint32_t code) const override {
    return "another process's error " + std::to_string(code) + " of the category " +
           printable(name_);
  }

 private:
  const std::string name_;
};

struct table {
  std::mutex lock;
  std::map<std::string, stand_in, std::less<>> all;  // under the lock
  foreign_names others;  // under the lock: the names from processes without a count of their own
};

table& known_names() {
  static table& it = *new table;  // never deleted: errors refer to its entries until the end
  return it;
}

}  // namespace

const base::error_category& foreign_category(std::string_view name, foreign_names* of) {
  if (name.size() > longest_category_name) name = beyond_limits;
  table& in = known_names();
  const std::lock_guard lock(in.lock);
  if (const auto at = in.all.find(name); at != in.all.end()) return at->second;
  foreign_names& share = of != nullptr ? *of : in.others;
  if (share.made_ >= foreign_names::most || in.all.size() + 1 >= most_foreign_categories)
    name = beyond_limits;
  const auto [at, is_new] = in.all.try_emplace(std::string(name), name);
  if (is_new && name != beyond_limits) ++share.made_;
  return at->second;
}

bool foreign_names::empty() const noexcept {
  const std::lock_guard lock(known_names().lock);
  return made_ == 0;
}

bool is_foreign(const base::error_category& c) noexcept { return typeid(c) == typeid(stand_in); }

void codec<base::error>::encode(byte_writer& out, const base::error& e) {
  const byte_writer::part part = out.open_part(0);
  const base::error_category* c = e.category();
  const std::string_view name = c != nullptr ? c->name() : std::string_view{};
  out.text(c != nullptr && name.empty() ? beyond_limits : name);
  out.fixed(e.code());
  // The texts of a stand-in are in the error's text already.
  out.text(c != nullptr && !is_foreign(*c) ? c->message(e.code()) : std::string{});
  out.text(e.detail());
  out.close_part(part);
}

void codec<base::error>::decode(byte_reader& in, base::error& e) {
  e = {};
  const byte_reader::part part = in.open_part();
  const std::string_view name = in.text();
  const auto code = in.fixed<std::uint32_t>();
  const std::string_view message = in.text();
  const std::string_view detail = in.text();
  const bool allowed = in.allow(message.size() + detail.size() + name.size() + 1, 1);
  if (allowed && name.empty() && (code != 0 || !message.empty() || !detail.empty()))
    in.fail("an error without a category");
  in.close_part(part);
  if (in.failed()) return in.blame("garrick::error", 0);
  if (name.empty()) return;
  if (const base::error_category* known = base::find_error_category(name)) {
    e = base::error(code, *known, {}, printable(detail));
    return;
  }
  const base::error_category& c = foreign_category(name, in.names());
  std::string text;
  if (c.name() != name) text = printable(name, most_printed_of_a_name);
  for (const std::string_view piece : {message, detail}) {
    if (!text.empty() && !piece.empty()) text += ": ";
    text += printable(piece);
  }
  e = base::error(code, c, {}, printable(text));
}

void codec<base::exit_reason>::encode(byte_writer& out, const base::exit_reason& r) {
  codec<base::error>::encode(out, r.as_error());
}

void codec<base::exit_reason>::decode(byte_reader& in, base::exit_reason& r) {
  base::error e;
  codec<base::error>::decode(in, e);
  r = base::exit_reason(std::move(e));
}

}  // namespace garrick::net
