// The signals that actors send each other (links, monitors, ends), and the errands of other parts.
//
// Private: installed because other parts of the framework use it. Of core's private rooms they
// include only seam/ and detail/.
//
// Thread safety: as each header says.
#pragma once

#include <garrick/core/life/signals.hpp>
