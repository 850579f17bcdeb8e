// The cells behind handles and addresses: for parts that make and keep them.
//
// Private: installed because other parts of the framework use it. Of core's private rooms they
// include only seam/ and detail/.
//
// Thread safety: as each header says.
#pragma once

#include <garrick/core/cell/handle.hpp>
