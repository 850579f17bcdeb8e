// Answers to requests that were taken from their envelopes.
//
// Private: installed because other parts of the framework use it. Of core's private rooms they
// include only seam/ and detail/.
//
// Thread safety: as each header says.
#pragma once

#include <garrick/core/cell/continuation.hpp>
#include <garrick/core/life/respond.hpp>
