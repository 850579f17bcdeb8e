// The parts of actor_cell that do not depend on the actor's class: the cell of an object that is
// being built, the rebuilding at a restart, and the look-up of a signature.
#include <garrick/core/cell/extension.hpp>
#include <garrick/core/cell/thread_context.hpp>
#include <garrick/core/detail/actor_cell.hpp>

#include <algorithm>

namespace garrick::core::detail {

constructing_scope::constructing_scope(cell& c) noexcept : outer_(here.constructing) {
  here.constructing = &c;
}
constructing_scope::~constructing_scope() { here.constructing = outer_; }

void rebuild_with_factory(cell& self, void* storage) {
  cell_extension& x = self.ext();
  const constructing_scope scope(self);
  x.parent->factory->build(storage);
}

bool is_among(understood_signature x, const understood_signature* all, std::size_t n) noexcept {
  return std::any_of(all, all + n, [x](const understood_signature& one) {
    return one.message == x.message && one.answer == x.answer;
  });
}

}  // namespace garrick::core::detail
