#include <garrick/patterns/plan.hpp>

namespace garrick::patterns {

namespace {

std::string title(const plan& p) {
  std::string text = p.name.empty() ? p.what : p.name;
  if (p.replicas != 0) text += " x " + std::to_string(p.replicas);
  if (p.ordered)
    text += ", ordered";
  else if (!p.policy.empty())
    text += ", " + p.policy;
  if ((p.what == "farm" || p.what == "parallel") && p.emitter) text += ", by an emitter";
  if (p.own_thread) text += " (own thread)";
  return text;
}

void draw(const plan& p, const std::string& before, std::string& text) {
  text += title(p) + "\n";
  for (std::size_t i = 0; i < p.parts.size(); ++i) {
    const bool last = i + 1 == p.parts.size();
    text += before + (last ? "└─ " : "├─ ");
    draw(p.parts[i], before + (last ? "   " : "│  "), text);
  }
}

}  // namespace

std::string detail::drawn(const void* pattern, plan (*describe)(const void* pattern)) {
  return describe(pattern).to_string();
}

std::string plan::to_string() const {
  std::string text;
  draw(*this, "", text);
  return text;
}

}  // namespace garrick::patterns
