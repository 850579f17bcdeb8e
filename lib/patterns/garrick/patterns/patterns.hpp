// Parallel patterns: streams of tuples through stages, with windows and joins; and maps, reductions
// and their kin, by which many cores work on one container.
//
//   const auto sum = fold(0, [](int all, int n) { return all + n; });
//   const auto stream = spawn(system, pipeline(counting(1, 101), sum));
//   const int all = system.request(stream, join{}).get().value();   // 5050
//
// Thread safety: patterns are plain values; each header says the rest.
#pragma once

// The headers of compile-time errors come first: a header between would add a line to each error.
#include <garrick/garrick.hpp>
#include <garrick/patterns/channel/tuple_type.hpp>
#include <garrick/patterns/detail/checks.hpp>
#include <garrick/patterns/detail/stage_check.hpp>
#include <garrick/patterns/detail/window_check.hpp>

#include <garrick/patterns/accelerator.hpp>
#include <garrick/patterns/ask.hpp>
#include <garrick/patterns/bind.hpp>
#include <garrick/patterns/containers/grid.hpp>
#include <garrick/patterns/containers/slice.hpp>
#include <garrick/patterns/data_pattern.hpp>
#include <garrick/patterns/divide_conquer.hpp>
#include <garrick/patterns/event_time.hpp>
#include <garrick/patterns/farm.hpp>
#include <garrick/patterns/feedback.hpp>
#include <garrick/patterns/generator.hpp>
#include <garrick/patterns/join_with.hpp>
#include <garrick/patterns/map.hpp>
#include <garrick/patterns/master_worker.hpp>
#include <garrick/patterns/neighbourhood.hpp>
#include <garrick/patterns/operators.hpp>
#include <garrick/patterns/optimise.hpp>
#include <garrick/patterns/parallel.hpp>
#include <garrick/patterns/pipeline.hpp>
#include <garrick/patterns/progress.hpp>
#include <garrick/patterns/reduce.hpp>
#include <garrick/patterns/seq.hpp>
#include <garrick/patterns/sinks.hpp>
#include <garrick/patterns/sources.hpp>
#include <garrick/patterns/stage_actor.hpp>
#include <garrick/patterns/stencil.hpp>
#include <garrick/patterns/stream.hpp>
#include <garrick/patterns/timing.hpp>
#include <garrick/patterns/windows.hpp>
#include <garrick/patterns/zip.hpp>
