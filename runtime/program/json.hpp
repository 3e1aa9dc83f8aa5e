#pragma once
/// @file
/// JSON that this project's own programs write and read. One source file implements it with
/// nlohmann-json, so that no program compiles that header. Neither in the library nor installed.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace viaduct::program {

/// A value of JSON. A copy is deep.
class Json {
 public:
  Json();  ///< an object without members
  Json(const Json& other);
  Json(Json&& other) noexcept;
  Json& operator=(const Json& other);
  Json& operator=(Json&& other) noexcept;
  ~Json();

  /// Throws std::runtime_error naming @p path when it cannot be read or is no JSON.
  [[nodiscard]] static Json read(const std::string& path);
  /// Writes it indented, with a line end behind. Throws Error naming @p path.
  void write(const std::string& path) const;

  /// Member @p key of an object becomes this value. Answers the object.
  Json& set(const std::string& key, bool value);
  Json& set(const std::string& key, double value);
  Json& set(const std::string& key, std::int64_t value);
  Json& set(const std::string& key, std::uint32_t value);
  Json& set(const std::string& key, std::uint64_t value);
  Json& set(const std::string& key, const char* value);
  Json& set(const std::string& key, const std::string& value);
  Json& set(const std::string& key, const std::vector<std::string>& value);
  Json& set(const std::string& key, const Json& value);
  /// The members of object @p other become members of this object; those of the same name are
  /// replaced.
  void merge(const Json& other);

  [[nodiscard]] bool has(const std::string& key) const;
  /// Member @p key, of an object. Throws std::runtime_error naming it when there is none.
  [[nodiscard]] Json at(const std::string& key) const;
  [[nodiscard]] std::vector<std::string> keys() const;

  /// The value. Throws std::runtime_error when it is of another kind.
  [[nodiscard]] double number() const;
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::vector<std::string> texts() const;

 private:
  struct Value;
  explicit Json(std::unique_ptr<Value> value);
  std::unique_ptr<Value> value_;
};

}  // namespace viaduct::program
