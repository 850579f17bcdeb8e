#include "workers.hpp"

namespace word_count {

garrick::result<unit_done> reader_actor::on(const read_unit& u) {
  chaos_->handling(role::reader);
  piece text = read_piece(u.path, u.how, u.what.offset, u.what.length);
  chaos_->midway(role::reader);
  return delegate(splitters_[next_++ % splitters_.size()],
                  split_unit{u.plan, u.unit, u.what.file, u.parts, std::move(text)});
}

namespace {

/// The words of a unit, by the part that counts them.
std::vector<unit_words> by_part(split_unit& u, std::uint32_t parts) {
  std::vector<unit_words> result(parts);
  for (unit_words& p : result) {
    p.unit = u.unit;
    p.file = u.file;
  }
  counts found = count_words(readable(std::move(u.text.text), u.text.how));
  while (!found.empty()) {
    auto node = found.extract(found.begin());
    std::vector<counted_word>& words = result[part_of(node.key(), parts)].words;
    words.push_back({std::move(node.key()), node.mapped()});
  }
  return result;
}

}  // namespace

garrick::task<unit_done> splitter_actor::on(split_unit u) {
  chaos_->handling(role::splitter);
  std::vector<unit_words> parts = by_part(u, static_cast<std::uint32_t>(counters_.size()));
  std::vector<garrick::pending_response<>> answers;
  answers.reserve(parts.size());
  for (std::size_t p = 0; p < parts.size(); ++p) {
    if ((u.parts >> p & 1) == 0) continue;  // holds this unit already
    answers.push_back(request(counters_[p], count_unit{u.plan, std::move(parts[p])}));
    if (p == 0) chaos_->midway(role::splitter);
  }
  for (garrick::pending_response<>& answer : answers) {
    const garrick::result<void> counted = co_await std::move(answer);
    chaos_->handling(role::splitter);
    if (!counted) co_return counted.error();
  }
  co_return unit_done{std::move(u.text.trouble)};
}

}  // namespace word_count
