// The text of an actor: its name and its id.
#include <garrick/core/cell/handle.hpp>

namespace garrick::core {

std::string address::to_string() const {
  if (cell_ == nullptr) return "nobody";
  return std::string(cell_->name()) + "#" + std::to_string(cell_->id());
}

std::string handle::to_string() const { return address().to_string(); }

}  // namespace garrick::core
