#include <garrick/net/node/protocol_table.hpp>

#include <algorithm>
#include <functional>

namespace garrick::net {

protocol_table::protocol_table(std::vector<signature_codec> all, base::result<schema> described)
    : by_type_(std::move(all)), described_(std::move(described)) {
  std::sort(by_type_.begin(), by_type_.end(),
            [](const signature_codec& a, const signature_codec& b) {
              return a.message.type < b.message.type;
            });
  for (std::size_t i = 0; i < by_type_.size(); ++i)
    by_content_.emplace_back(by_type_[i].message.content, i);
  std::sort(by_content_.begin(), by_content_.end(),
            [](const auto& a, const auto& b) { return std::less<>()(a.first, b.first); });
}

const signature_codec* protocol_table::by_type(std::uint64_t type) const noexcept {
  const auto at = std::lower_bound(
      by_type_.begin(), by_type_.end(), type,
      [](const signature_codec& s, std::uint64_t t) { return s.message.type < t; });
  return at != by_type_.end() && at->message.type == type ? &*at : nullptr;
}

const signature_codec* protocol_table::by_content(const base::message_type* m) const noexcept {
  const auto at = std::lower_bound(
      by_content_.begin(), by_content_.end(), m,
      [](const auto& entry, const base::message_type* t) { return std::less<>()(entry.first, t); });
  return at != by_content_.end() && at->first == m ? &by_type_[at->second] : nullptr;
}

const content_codec* protocol_table::answer_by_type(std::uint64_t type) const noexcept {
  const auto at = std::find_if(by_type_.begin(), by_type_.end(),
                               [&](const signature_codec& s) { return s.answer.type == type; });
  return at != by_type_.end() ? &at->answer : nullptr;
}

}  // namespace garrick::net
