// Events as text.
#include <garrick/machine/event_log.hpp>
#include <garrick/machine/simulation.hpp>

#include <algorithm>
#include <cstdio>

namespace garrick::machine {

namespace {

std::string microseconds(double ns) {
  char text[40];
  std::snprintf(text, sizeof text, "%.3f", ns / 1000);
  return text;
}

}  // namespace

void event_log::follow(simulation& s) {
  of_ = &s;
  s.observe([this](const thread_event& e) { add(e); });
}

void event_log::add(const thread_event& e) {
  const double at_ns = static_cast<double>(e.at) / 1000;
  if (!wants(at_ns)) return;
  const std::string on = " processor " + std::to_string(e.processor);
  const std::string other = e.other == thread_event::nobody ? "a timer" : of_->name_of(e.other);
  std::string what;
  switch (e.what) {
    case thread_event::kind::woken: what = "is woken by " + other + " for" + on; break;
    case thread_event::kind::runs:
      what = "runs on" + on + ", " + microseconds(static_cast<double>(e.waited) / 1000) +
             " µs after it could";
      break;
    case thread_event::kind::preempted: what = "loses" + on + " to " + other; break;
    case thread_event::kind::sleeps: what = "sleeps, leaves" + on; break;
    case thread_event::kind::ends: what = "ends, leaves" + on; break;
  }
  lines_.push_back({at_ns, of_->name_of(e.thread), std::move(what)});
}

void event_log::note(const std::string& what) {
  const engine& e = *engine::current();
  const double at_ns = static_cast<double>(e.now()) / 1000;
  if (wants(at_ns)) lines_.push_back({at_ns, of_->name_of(e.self()), what});
}

std::string event_log::text() const {
  std::vector<const line*> sorted;
  for (const line& l : lines_) sorted.push_back(&l);
  // lines of equal times stay in the order of their reports
  std::sort(sorted.begin(), sorted.end(), [](const line* a, const line* b) {
    return a->at_ns != b->at_ns ? a->at_ns < b->at_ns : a < b;
  });
  std::string result;
  for (const line* l : sorted) {
    char head[80];
    std::snprintf(head, sizeof head, "%14s  %-12s ", microseconds(l->at_ns).c_str(),
                  l->thread.c_str());
    result += head + l->what + "\n";
  }
  return result;
}

}  // namespace garrick::machine
