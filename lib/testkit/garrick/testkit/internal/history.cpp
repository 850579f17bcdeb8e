// The texts of the history.
#include <garrick/testkit/internal/history.hpp>

namespace garrick::testkit::internal {

namespace {
constexpr std::size_t turns_remembered = 24;
}

void history::add(const turn_record& turn) {
  ++handled_;
  turns_.push_back(turn);
  if (turns_.size() > turns_remembered) turns_.pop_front();
}

const std::string& history::add_failure(std::uint64_t id, std::string_view why) {
  return failures_.emplace_back(name_of(id) + ": " + std::string(why));
}

std::string history::name_of(std::uint64_t id) const {
  if (id == 0) return "the test";
  const auto at = names_.find(id);
  return (at != names_.end() ? at->second : std::string("a scoped actor")) + "#" +
         std::to_string(id);
}

std::string history::to_string() const {
  std::string out;
  if (!turns_.empty()) out += "\n  the last messages, newest last:";
  for (const turn_record& turn : turns_)
    out += "\n    " + name_of(turn.actor) + (turn.response ? " got the response " : " handled ") +
           std::string(turn.type->name) + " from " + name_of(turn.sender);
  if (!failures_.empty()) out += "\n  actors that failed:";
  for (const std::string& failure : failures_) out += "\n    " + failure;
  return out;
}

}  // namespace garrick::testkit::internal
