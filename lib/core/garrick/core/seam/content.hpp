// The envelope of a message or an answer: for parts that encode and decode content.
//
// Private: installed because other parts of the framework use it. Of core's private rooms they
// include only seam/ and detail/.
//
// Thread safety: as each header says.
#pragma once

#include <garrick/core/mailbox/envelope.hpp>
