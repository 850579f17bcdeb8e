// The list of workload `savina_sorted_list`, its workers' requests, and their frequency.
#pragma once

#include <cstdint>
#include <forward_list>

#include "common/measure.hpp"
#include "common/savina.hpp"

namespace bench::savina {

struct list_rules {
  std::uint32_t workers = 20;
  std::uint32_t messages = 8000;  // of each worker
  std::uint32_t writes = 10;      // per cent
  std::uint32_t sizes = 1;        // per cent
};

/// Singly linked and in order. Every operation walks along it: that is the point.
class sorted_list {
 public:
  void insert(std::uint32_t value) {
    auto before = values_.before_begin();
    for (auto at = values_.begin(); at != values_.end() && *at < value; ++at) before = at;
    values_.insert_after(before, value);
  }
  bool contains(std::uint32_t value) const {
    auto at = values_.begin();
    while (at != values_.end() && *at < value) ++at;
    return at != values_.end() && *at == value;
  }
  std::uint64_t size() const {
    std::uint64_t count = 0;
    for (auto at = values_.begin(); at != values_.end(); ++at) ++count;
    return count;
  }
  bool in_order() const {
    std::uint32_t last = 0;
    for (const std::uint32_t value : values_) {
      if (value < last) return false;
      last = value;
    }
    return true;
  }

 private:
  std::forward_list<std::uint32_t> values_;
};

enum class list_request : std::uint8_t { insert, contains, size };

/// The requests of one worker: they depend on its number alone.
class list_requests {
 public:
  struct request {
    list_request kind;
    std::uint32_t value;  // not of a size
  };

  // The share of sizes is not part of the seed.
  list_requests(const list_rules& rules, std::uint32_t worker)
      : left_(rules.messages),
        writes_(rules.writes),
        sizes_(rules.sizes),
        random_(worker + rules.messages + rules.writes) {}

  bool more() const { return left_ != 0; }
  request next() {
    --left_;
    const std::uint32_t dice = random_.below(100);
    if (dice < sizes_) return {list_request::size, 0};
    return {dice < sizes_ + writes_ ? list_request::insert : list_request::contains,
            random_.next()};
  }

 private:
  std::uint32_t left_;
  std::uint32_t writes_;
  std::uint32_t sizes_;
  random_numbers random_;
};

struct list_outcome {
  std::uint64_t inserts = 0;
  std::uint64_t contains = 0;
  std::uint64_t sizes = 0;
  std::uint64_t values = 0;  // that the list holds at the end
  bool in_order = false;
};

/// Compares with the sum of the workers' requests and, for the parameters whose outcome was
/// published, with that.
inline void check_list(result& out, const list_rules& rules, const list_outcome& found) {
  list_outcome expected;
  for (std::uint32_t worker = 0; worker < rules.workers; ++worker) {
    for (list_requests requests(rules, worker); requests.more();) {
      const list_request kind = requests.next().kind;
      ++(kind == list_request::insert ? expected.inserts
         : kind == list_request::size ? expected.sizes
                                      : expected.contains);
    }
  }
  if (rules.workers == 20 && rules.messages == 8000 && rules.writes == 10 && rules.sizes == 1) {
    expected.inserts = 16'078;
    expected.sizes = 10;
    expected.contains = 143'912;
  }
  out.expect("inserts", expected.inserts, found.inserts);
  out.expect("contains", expected.contains, found.contains);
  out.expect("sizes", expected.sizes, found.sizes);
  out.expect("values", expected.inserts, found.values);
  out.expect("in order", 1, found.in_order ? 1 : 0);
}

}  // namespace bench::savina
