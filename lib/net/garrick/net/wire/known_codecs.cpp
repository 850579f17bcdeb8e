#include "garrick/net/wire/known_codecs.hpp"

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>

#include "garrick/net/printable.hpp"

namespace garrick::net {
namespace {

constexpr std::string_view beyond_limits = "foreign";

class stand_in final : public base::error_category {
 public:
  stand_in(std::string_view name, stand_in* next) : name_(name), next_(next) {}
  [[nodiscard]] std::string_view name() const noexcept override { return name_; }
  [[nodiscard]] std::string message(std::uint32_t code) const override {
    return "another process's error " + std::to_string(code) + " of the category " +
           printable(name_);
  }
  [[nodiscard]] const stand_in* next() const noexcept { return next_; }

 private:
  const std::string name_;
  const stand_in* const next_;
};

/// A list that only grows; a reader needs no lock.
std::atomic<stand_in*> newest{nullptr};
std::mutex growing;

const stand_in* find(const stand_in* from, std::string_view name, std::size_t& seen) noexcept {
  for (const stand_in* at = from; at != nullptr; at = at->next()) {
    if (at->name() == name) return at;
    ++seen;
  }
  return nullptr;
}

}  // namespace

const base::error_category& foreign_category(std::string_view name) {
  if (name.size() > longest_category_name) name = beyond_limits;
  const std::lock_guard lock(growing);
  // order: relaxed: written under this lock.
  stand_in* const first = newest.load(std::memory_order_relaxed);
  std::size_t seen = 0;
  if (const stand_in* known = find(first, name, seen)) return *known;
  if (seen + 1 >= most_foreign_categories && name != beyond_limits) {
    name = beyond_limits;
    if (const stand_in* known = find(first, name, seen)) return *known;
  }
  auto* made = new stand_in(name, first);  // never deleted: errors refer to it until the end
  // order: release pairs with the acquire in `is_foreign`, which reads the new object.
  newest.store(made, std::memory_order_release);
  return *made;
}

bool is_foreign(const base::error_category& c) noexcept {
  // order: acquire pairs with the release above.
  for (const stand_in* at = newest.load(std::memory_order_acquire); at != nullptr; at = at->next())
    if (at == &c) return true;
  return false;
}

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
  const base::error_category& c = foreign_category(name);
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
