// Figures that a program adds to the report: lines over an axis, with a paper's claim about them
// and our result.
//
// Thread safety: none.
#pragma once

#include <cmath>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "common/measure.hpp"

namespace bench {

class figure {
 public:
  // `claim` is the paper's claim, in words.
  figure(std::string title, std::string claim, std::string x, std::string y)
      : title_(std::move(title)), claim_(std::move(claim)), x_(std::move(x)), y_(std::move(y)) {}

  void point(const std::string& line, double x, double y) {
    for (auto& l : lines_)
      if (l.first == line) return l.second.push_back({x, y});
    lines_.push_back({line, {{x, y}}});
  }
  // Adds a sentence about the result.
  void found(const std::string& text) { found_ += (found_.empty() ? "" : " ") + text; }
  void logarithmic_y() { log_y_ = true; }
  void logarithmic_x() { log_x_ = true; }
  // Names for x = 0, 1, …
  void names(std::vector<std::string> of_x) { names_ = std::move(of_x); }

  [[nodiscard]] std::string json() const {
    std::string text = "{\"title\":" + quoted(title_) + ",\"claim\":" + quoted(claim_) +
                       ",\"found\":" + quoted(found_) + ",\"x\":" + quoted(x_) +
                       ",\"y\":" + quoted(y_) + ",\"log_x\":" + (log_x_ ? "true" : "false") +
                       ",\"log_y\":" + (log_y_ ? "true" : "false") + ",\"names\":[";
    for (std::size_t i = 0; i < names_.size(); ++i) text += (i == 0 ? "" : ",") + quoted(names_[i]);
    text += "],\"lines\":[";
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      text += (i == 0 ? "{\"name\":" : ",{\"name\":") + quoted(lines_[i].first) + ",\"points\":[";
      for (std::size_t k = 0; k < lines_[i].second.size(); ++k) {
        const auto& [x, y] = lines_[i].second[k];
        text += (k == 0 ? "[" : ",[") + number(x) + "," + number(y) + "]";
      }
      text += "]}";
    }
    return text + "]}";
  }

  static std::string number(double value, int digits = 6) {
    char text[40];
    std::snprintf(text, sizeof text, "%.*g", digits, value);
    return text;
  }

 private:
  std::string title_, claim_, x_, y_, found_;
  std::vector<std::string> names_;
  std::vector<std::pair<std::string, std::vector<std::pair<double, double>>>> lines_;
  bool log_x_ = false;
  bool log_y_ = false;
};

inline std::string json_of(const std::vector<figure>& figures) {
  std::string text = "[";
  for (const figure& f : figures) text += (text.size() == 1 ? "" : ",") + f.json();
  return text + "]";
}

}  // namespace bench
