#include "stages.hpp"

namespace word_count {

using garrick::patterns::emit;

void only_after_a_strike() {
  try {
    throw;
  } catch (const chaos_strike&) {
    // goes on
  }
}

bool unit_source::consume(emit<open_unit> out) {
  if (next_ == open_.size()) return false;
  if (next_ % units_a_strike == 0) chaos_->handling(role::source);
  out(open_[next_++]);
  return true;
}

void splitter::consume(open_unit u, emit<part_words> out) {
  chaos_->handling(role::splitter);
  const unit& where = plan_->units[u.unit];
  const source& file = plan_->files[where.file];
  piece read = read_piece(file.path, file.how, where.offset, where.length);
  if (!read.trouble.empty()) send(foreman_, unread{{file.path, read.trouble}});
  const std::string text = readable(std::move(read.text), read.how);
  std::vector<std::string> words(parts_);
  std::string word;
  for (std::size_t at = 0; next_word(text, at, word);)
    words[part_of(word, parts_)].append(word).push_back(' ');
  for (std::uint32_t p = 0; p < parts_; ++p) {
    if ((u.parts >> p & 1) != 0)  // otherwise the ledger already holds this unit
      out({p, u.unit, where.file, std::move(words[p])});
    if (p == 0) chaos_->midway(role::splitter);
  }
}

void counter::consume(const part_words& w, emit<batch> out) {
  chaos_->handling(role::counter);
  batch& b = batches_[w.part];
  const std::string_view words = w.words;
  bool half = false;
  for (std::size_t at = 0, end = 0; (end = words.find(' ', at)) != words.npos; at = end + 1) {
    note(b.words, words.substr(at, end - at), 1, w.file);
    if (!half && 2 * end >= words.size()) {
      half = true;
      chaos_->midway(role::counter);
    }
  }
  b.units.push_back(w.unit);
  if (b.units.size() < units_a_batch) return;
  b.plan = plan_;
  b.part = w.part;
  out(std::exchange(b, {}));
}

void counter::on_stop(emit<batch> out) {
  for (auto& [part, b] : batches_) {
    if (b.units.empty()) continue;
    b.plan = plan_;
    b.part = part;
    out(std::move(b));
  }
}

}  // namespace word_count
