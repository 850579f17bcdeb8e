// Building a user's object in its cell, for the first time and anew.
#include <garrick/core/cell/extension.hpp>
#include <garrick/core/cell/thread_context.hpp>
#include <garrick/core/detail/actor_cell.hpp>

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

}  // namespace garrick::core::detail
