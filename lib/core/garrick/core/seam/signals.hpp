// The signals that actors send each other, and the errands of parts: links, monitors, ends.
//
// Private: installed because other parts of the framework use it. They include no other private
// header of core.
//
// Thread safety: as each header says.
#pragma once

#include <garrick/core/life/signals.hpp>
