// Cells as they run, for diagnosis and for executors that drive actors step by step: the run loop's
// pieces, what a thread has on its stack, and what only some actors have.
//
// Private: installed because other parts of the framework use it. They include no other private
// header of core.
//
// Thread safety: as each header says.
#pragma once

#include <garrick/core/cell/extension.hpp>
#include <garrick/core/cell/thread_context.hpp>
#include <garrick/core/turn/running_cell.hpp>
