// The constructor and destructor of a cell's extension.
#include <garrick/core/cell/extension.hpp>
#include <garrick/core/overload/internal/sender_credit.hpp>

namespace garrick::core {

cell_extension::cell_extension() = default;
cell_extension::~cell_extension() = default;

}  // namespace garrick::core
