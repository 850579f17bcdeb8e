// Parallel patterns: pipelines, farms and streams.
#pragma once

#include <garrick/patterns/ask.hpp>
#include <garrick/patterns/farm.hpp>
#include <garrick/patterns/feedback.hpp>
#include <garrick/patterns/generator.hpp>
#include <garrick/patterns/operators.hpp>
#include <garrick/patterns/optimise.hpp>
#include <garrick/patterns/parallel.hpp>
#include <garrick/patterns/pipeline.hpp>
#include <garrick/patterns/seq.hpp>
#include <garrick/patterns/sinks.hpp>
#include <garrick/patterns/slice.hpp>
#include <garrick/patterns/sources.hpp>
#include <garrick/patterns/stage_actor.hpp>
#include <garrick/patterns/stream.hpp>
#include <garrick/patterns/timing.hpp>
#include <garrick/patterns/zip.hpp>
