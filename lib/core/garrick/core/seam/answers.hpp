// Answers to requests that were taken from their envelopes.
//
// Private: installed because other parts of the framework use it. They include no other private
// header of core.
//
// Thread safety: as each header says.
#pragma once

#include <garrick/core/cell/continuation.hpp>
#include <garrick/core/life/respond.hpp>
