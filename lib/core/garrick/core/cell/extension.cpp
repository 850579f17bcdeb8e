// Where the extension of a cell is made and destroyed.
#include <garrick/core/cell/extension.hpp>
#include <garrick/core/cell/internal/sender_credit.hpp>

namespace garrick::core {

cell_extension::cell_extension() = default;
cell_extension::~cell_extension() = default;

}  // namespace garrick::core
