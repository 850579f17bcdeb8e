// Running cells, for diagnosis and for executors that drive actors step by step: the pieces of the
// run loop, the actors on a thread's stack, and the state that only some actors need.
//
// Private: installed because other parts of the framework use it. Of core's private rooms they
// include only seam/ and detail/.
//
// Thread safety: as each header says.
#pragma once

#include <garrick/core/cell/extension.hpp>
#include <garrick/core/cell/thread_context.hpp>
#include <garrick/core/turn/running_cell.hpp>
