// Separates failures from strikes, and puts the last one into words.
#include "overseer.hpp"

#include "chaos.hpp"

#include <string>

namespace word_count {

void overseer_actor::on(const garrick::child_failed& f) {
  if (!f.suspended || !verdict_->empty()) return;  // its end was wanted, or all is over
  const std::string why = f.reason.to_string();
  if (why.find(strike_text) != std::string::npos) return;
  // Where memory is short, the text of the reason, or its end, may be missing for that reason.
  memory_is_short_ = memory_is_short_ || why.find("bad_alloc") != std::string::npos ||
                     f.reason.as_error().detail().empty();
  if (++failures_ < most_failures) return;
  std::string who = "an actor";
  for (const garrick::child_info& c : on(garrick::list_children{}))
    if (c.id == f.child.id()) who = c.name;
  *verdict_ = (memory_is_short_ ? "not enough memory: " : "the work cannot be done: ") + who +
              " could not go on, the last of " + std::to_string(failures_) + " failures (" + why +
              ")";
  quit(garrick::make_error(garrick::errc::user, *verdict_));
}

}  // namespace word_count
