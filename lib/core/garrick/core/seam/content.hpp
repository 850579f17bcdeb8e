// The envelope of a message or an answer: for parts that encode and decode content.
//
// Private: installed because other parts of the framework use it. They include no other private
// header of core.
//
// Thread safety: as each header says.
#pragma once

#include <garrick/core/mailbox/envelope.hpp>
