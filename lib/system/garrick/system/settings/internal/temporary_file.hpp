// For tests: a file that is gone at the end of the test.
#pragma once

#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

namespace garrick::system::internal {

class temporary_file {
 public:
  explicit temporary_file(const std::string& content) {
    static int number = 0;
    path_ = (std::filesystem::temp_directory_path() /
             ("garrick_settings_" + std::to_string(::getpid()) + "_" + std::to_string(number++) +
              ".json"))
                .string();
    std::ofstream(path_) << content;
  }
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;
  ~temporary_file() { std::remove(path_.c_str()); }
  [[nodiscard]] const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace garrick::system::internal
