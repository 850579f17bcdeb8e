// Parses the text of an affinity, with errors that point at the character, and binds threads.
#include <garrick/base/platform/platform.hpp>
#include <garrick/sched/places/affinity.hpp>

#include <algorithm>
#include <string>

namespace garrick::sched {

namespace {

constexpr std::size_t most_groups = 1024;
constexpr std::int32_t highest_processor = 8191;

class parser {
 public:
  parser(std::string_view text, std::span<const std::int32_t> usable)
      : text_(text), usable_(usable) {}

  base::result<std::vector<affinity::processors>> groups() {
    std::vector<affinity::processors> all;
    for (skip_blanks(); at_ < text_.size(); skip_blanks()) {
      if (all.size() == most_groups) return wrong(at_, "more than 1024 groups");
      affinity::processors group;
      if (base::error e = one_group(group)) return e;
      all.push_back(std::move(group));
    }
    return all;
  }

 private:
  base::error one_group(affinity::processors& into) {
    if (base::error e = expect('<', "a group begins with <")) return e;
    for (;;) {
      if (base::error e = range(into)) return e;
      if (take(',')) continue;
      if (base::error e = expect('>', "expected , or - or >")) return e;
      std::sort(into.begin(), into.end());
      into.erase(std::unique(into.begin(), into.end()), into.end());
      return {};
    }
  }

  base::error range(affinity::processors& into) {
    std::int32_t first = 0;
    if (base::error e = number(first)) return e;
    std::int32_t last = first;
    if (take('-')) {
      skip_blanks();
      const std::size_t where = at_;
      if (base::error e = number(last)) return e;
      if (last < first) return wrong(where, "a range begins with its lower number");
      // Both ends may be used, but perhaps not all processors between them.
      for (std::int32_t n = first; n <= last; ++n)
        if (!may_use(n))
          return wrong(where, "processor " + std::to_string(n) +
                                  " is not among those that this process may use");
    }
    for (std::int32_t n = first; n <= last; ++n) into.push_back(n);
    return {};
  }

  base::error number(std::int32_t& into) {
    skip_blanks();
    const std::size_t where = at_;
    std::int32_t read = 0;
    for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
      read = read * 10 + (text_[at_] - '0');
      if (read > highest_processor)
        return wrong(where, "no machine has a processor of this number");
    }
    if (at_ == where) return wrong(where, "expected the number of a processor");
    if (!may_use(read))
      return wrong(where, "processor " + std::to_string(read) +
                              " is not among those that this process may use");
    into = read;
    return {};
  }

  [[nodiscard]] bool may_use(std::int32_t n) const noexcept {
    return usable_.empty() || std::find(usable_.begin(), usable_.end(), n) != usable_.end();
  }
  void skip_blanks() noexcept {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\t')) ++at_;
  }
  bool take(char c) noexcept {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  base::error expect(char c, std::string_view what) {
    if (take(c)) return {};
    return wrong(at_, std::string(what));
  }
  [[nodiscard]] base::error wrong(std::size_t where, const std::string& what) const {
    const std::string place = where < text_.size() ? "at character " + std::to_string(where + 1)
                                                   : std::string("at its end");
    return base::make_error(
        base::errc::invalid_setting, "affinity",
        place + ": " + what + "\n  " + std::string(text_) + "\n  " + std::string(where, ' ') + "^");
  }

  std::string_view text_;
  std::span<const std::int32_t> usable_;
  std::size_t at_ = 0;
};

}  // namespace

base::result<affinity> affinity::parse(std::string_view text,
                                       std::span<const std::int32_t> usable) {
  auto groups = parser(text, usable).groups();
  if (!groups) return groups.error();
  affinity parsed;
  parsed.groups_ = std::move(*groups);
  return parsed;
}

base::result<affinity::processors> affinity::parse_group(std::string_view text,
                                                         std::span<const std::int32_t> usable) {
  auto groups = parser(text, usable).groups();
  if (!groups) return groups.error();
  if (groups->size() > 1)
    return base::make_error(base::errc::invalid_setting, "affinity",
                            std::string(text) + " has " + std::to_string(groups->size()) +
                                " groups, and there is one thread");
  return groups->empty() ? processors() : std::move(groups->front());
}

base::error affinity::bind_this_thread() {
  if (groups_.empty()) return {};
  // order: relaxed; each thread gets a number of its own
  const processors& group = of(next_.fetch_add(1, std::memory_order_relaxed));
  if (base::platform::bind_this_thread(group)) return {};
  return base::make_error(base::errc::invalid_setting, "affinity",
                          "the system does not let a thread run on processor " +
                              std::to_string(group.front()) + " and its group");
}

}  // namespace garrick::sched
