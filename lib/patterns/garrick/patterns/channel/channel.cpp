#include <garrick/patterns/channel/channel.hpp>

#include <new>

namespace garrick::patterns::detail {

tuple_ring::tuple_ring(const tuple_type& of, std::size_t capacity)
    : ring_indices(slots_for(capacity),
                   ::operator new(slots_for(capacity) * of.size, std::align_val_t{of.alignment})),
      type_(of) {}

tuple_ring::~tuple_ring() {
  const auto [number, left] = what_is_left();
  for (std::size_t i = 0; i < left; ++i) type_.destroy_some(slot((number + i) & mask_), 1);
  ::operator delete(memory_, std::align_val_t{type_.alignment});
}

}  // namespace garrick::patterns::detail
