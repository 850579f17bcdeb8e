// The parts of `error` that touch memory or text.
#include "garrick/base/values/error.hpp"

#include <atomic>
#include <cstring>
#include <mutex>
#include <new>

namespace garrick::base {
namespace {

/// The shared, immutable block; the text follows it in memory.
struct error_detail {
  std::atomic<std::uint32_t> references{1};
  std::uint32_t code = 0;
  std::size_t length = 0;

  [[nodiscard]] char* text() noexcept { return reinterpret_cast<char*>(this + 1); }
};

error_detail* detail_of(std::uintptr_t word) noexcept {
  return reinterpret_cast<error_detail*>(word);
}

std::string_view message_of(errc code) noexcept {
  switch (code) {
    case errc::not_handled: return "not handled: the receiver ended or was restarted";
    case errc::receiver_failed: return "the receiver failed while it handled the request";
    case errc::timeout: return "no response came in time";
    case errc::unexpected_message: return "the receiver has no handler for this message";
    case errc::overload: return "there is no room for more";
    case errc::broken_promise: return "the request was taken, but will not be answered";
    case errc::spawn_failed: return "the actor could not be started";
    case errc::shutting_down: return "the system is shutting down";
    case errc::invalid_setting: return "a setting is not valid";
    case errc::would_block: return "this call is not possible here";
    case errc::request_cycle: return "actors wait for each other in a circle";
    case errc::cancelled: return "the request was cancelled";
    case errc::user: return "the program reported an error";
    case errc::not_found: return "nothing has this name";
  }
  return {};
}

// The list is ready before the first entry's constructor runs.
constinit std::mutex categories_mutex;
constinit detail::category_entry* first_category = nullptr;  // under `categories_mutex`

}  // namespace

namespace detail {

constinit const core_error_category core_errors{};

namespace {
const category_entry core_entry{core_errors};
}  // namespace

category_entry::category_entry(const error_category& listed) noexcept : category(&listed) {
  const std::lock_guard guard(categories_mutex);
  next = first_category;
  first_category = this;
}

category_entry::~category_entry() {
  const std::lock_guard guard(categories_mutex);
  category_entry** at = &first_category;
  while (*at != this) at = &(*at)->next;
  *at = next;
}

std::string_view core_error_category::name() const noexcept { return "garrick"; }

std::string core_error_category::message(std::uint32_t code) const {
  const std::string_view text = message_of(static_cast<errc>(code));
  return text.empty() ? "unknown error " + std::to_string(code) : std::string(text);
}

std::uintptr_t make_error_detail(std::uint32_t code, std::string_view where, std::string_view why) {
  const std::string_view separator = where.empty() || why.empty() ? "" : ": ";
  const std::size_t length = where.size() + separator.size() + why.size();
  auto* block = ::new (::operator new(sizeof(error_detail) + length)) error_detail;
  block->code = code;
  block->length = length;
  char* out = block->text();
  for (const std::string_view part : {where, separator, why}) {
    if (part.empty()) continue;
    std::memcpy(out, part.data(), part.size());
    out += part.size();
  }
  return reinterpret_cast<std::uintptr_t>(block);
}

void retain_error_detail(std::uintptr_t word) noexcept {
  // order: relaxed; a copier already holds a reference, so the block cannot go meanwhile.
  detail_of(word)->references.fetch_add(1, std::memory_order_relaxed);
}

void release_error_detail(std::uintptr_t word) noexcept {
  error_detail* block = detail_of(word);
  // order: acq_rel; pairs with itself in the other holders: their reads of the text happen before
  // the last one frees it.
  if (block->references.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  block->~error_detail();
  ::operator delete(block);
}

}  // namespace detail

const error_category* find_error_category(std::string_view name) noexcept {
  const std::lock_guard guard(categories_mutex);
  const error_category* found = nullptr;
  for (const detail::category_entry* e = first_category; e != nullptr; e = e->next) {
    if (e->category == found || e->category->name() != name) continue;
    if (found != nullptr) return nullptr;
    found = e->category;
  }
  return found;
}

error::error(std::uint32_t code, const error_category& category, std::string_view where,
             std::string_view why)
    : error(code, category) {
  if (where.empty() && why.empty()) return;
  try {
    word_ = detail::make_error_detail(code, where, why);
  } catch (const std::bad_alloc&) {  // the code alone is left
  }
}

std::uint32_t error::code() const noexcept {
  return shared() ? detail_of(word_)->code : static_cast<std::uint32_t>(word_ >> 1);
}

std::string_view error::detail() const noexcept {
  if (!shared()) return {};
  error_detail* block = detail_of(word_);
  return {block->text(), block->length};
}

std::string error::message() const {
  return category_ == nullptr ? "no error" : category_->message(code());
}

std::string error::to_string() const {
  std::string text = message();
  if (const std::string_view more = detail(); !more.empty()) text.append(": ").append(more);
  return text;
}

error error::at(std::string_view where) const {
  return category_ == nullptr ? error() : error(code(), *category_, where, detail());
}

}  // namespace garrick::base
