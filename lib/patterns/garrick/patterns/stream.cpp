#include <garrick/patterns/stream.hpp>

#include <stdexcept>
#include <string>

namespace garrick::patterns::detail {

void check(const stream_options& o) {
  if (o.capacity == 0 || o.capacity > (std::size_t{1} << 20))
    throw std::invalid_argument("garrick: stream_options::capacity is " +
                                std::to_string(o.capacity) + "; allowed are 1 to 2^20 tuples");
  if (o.replicas > most_replicas)
    throw std::invalid_argument("garrick: stream_options::replicas is " +
                                std::to_string(o.replicas) + "; allowed are at most " +
                                std::to_string(most_replicas));
}

}  // namespace garrick::patterns::detail
