// A test program that hangs says where: which test case runs, and each thread's stack.
#pragma once

namespace garrick::tests {

/// After TEST_ALARM seconds, which CTest sets a little below its own limit, the stacks of
/// all threads go to standard error and the process ends with the status 124. Without the variable
/// nothing happens. Call it once, before there are threads. It takes SIGALRM and SIGUSR2; no thread
/// is added. Children that are forked have no alarm.
void stacks_when_stuck();

/// Names the running test for the report. `name` must stay as it is. Any thread.
void stuck_in(const char* name) noexcept;

}  // namespace garrick::tests
