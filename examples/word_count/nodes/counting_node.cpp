#include "counting_node.hpp"

#include "../stages.hpp"

#include <charconv>
#include <cstdio>
#include <tuple>

namespace word_count {

void counting_actor::on_start() {
  if (!office_) return;
  monitor(office_, [this](const garrick::down&) { quit(); });
  send(office_, join{node_, life_, self()});
}

// [count]
counted counting_actor::on(const count_part& p) {
  lexicon known;
  for (const piece_of_text& piece : p.pieces) {
    const std::string text = readable(piece.text, piece.how);
    std::string word;
    for (std::size_t at = 0; next_word(text, at, word);) note(known, word, 1, piece.file);
  }
  counted result;
  result.words.reserve(known.size());
  while (!known.empty()) {
    auto entry = known.extract(known.begin());
    result.words.push_back({std::move(entry.key()), entry.mapped().count, entry.mapped().home});
  }
  return result;
}
// [/count]

std::vector<std::string> node_arguments::words() const {
  return {option,
          office,
          std::to_string(family),
          std::to_string(node),
          std::to_string(life),
          std::to_string(workers)};
}

bool node_arguments::read(const std::vector<std::string_view>& words) {
  const auto number = [](std::string_view text, auto& into) {
    const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), into);
    return code == std::errc{} && end == text.data() + text.size();
  };
  if (words.size() != 6 || words[0] != option) return false;
  office = words[1];
  return number(words[2], family) && number(words[3], node) && number(words[4], life) &&
         number(words[5], workers);
}

// [node]
int be_a_node(const node_arguments& a) {
  garrick::settings o;
  o.scheduler.workers = a.workers;
  o.log.level = garrick::system::log_level::off;  // the coordinator reports everything
  garrick::actor_system system(o);
  garrick::net::node_settings s = settings_of_node();
  s.id = {a.family,
          a.node};  // the same in all its lives: a new one ends the connections of the previous one
  garrick::net::node node(system, s);
  const auto office = node.remote<office_protocol>(a.office, office_name);
  if (!office) {
    std::fprintf(stderr, "word_count: node %u: %s\n", a.node, office.error().to_string().c_str());
    return 1;
  }
  system.spawn<counting_actor>(*office, a.node, a.life);
  return system.await_all() ? 0 : 1;
}
// [/node]

}  // namespace word_count
