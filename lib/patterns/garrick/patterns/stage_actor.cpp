#include <garrick/patterns/stage_actor.hpp>

namespace garrick::patterns::detail {

stage_hold actor_of_stage::hold() const { return {owner_.lock(), node()}; }

}  // namespace garrick::patterns::detail
