// Running cells, for diagnosis and for executors that drive actors step by step: the pieces of the
// run loop, the actors on a thread's stack, and the state of few actors.
//
// Private: installed because other parts of the framework use it. They include no other private
// header of core.
//
// Thread safety: as each header says.
#pragma once

#include <garrick/core/cell/extension.hpp>
#include <garrick/core/cell/thread_context.hpp>
#include <garrick/core/turn/running_cell.hpp>
