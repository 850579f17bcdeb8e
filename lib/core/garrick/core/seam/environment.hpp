// The system's side of actors: the environment, the list of cells, the words on which senders wait,
// the graph of requests, and the executors of waiting threads.
//
// Private: installed because other parts of the framework use it. Of core's private rooms they
// include only seam/ and detail/.
//
// Thread safety: as each header says.
#pragma once

#include <garrick/core/cell/cell_list.hpp>
#include <garrick/core/cell/environment.hpp>
#include <garrick/core/life/wait_graph.hpp>
#include <garrick/core/overload/drain_lot.hpp>
#include <garrick/core/turn/waiting_executor.hpp>
