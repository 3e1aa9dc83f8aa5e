#include "runtime/program/json.hpp"

#include <cerrno>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <utility>

#include "runtime/errors/codes.hpp"
#include "viaduct/runtime/error.hpp"

namespace viaduct::program {

struct Json::Value {
  nlohmann::json json;
};

namespace {

template <class T>
T as(const nlohmann::json& json, const char* kind) {
  try {
    return json.get<T>();
  } catch (const nlohmann::json::exception&) {
    throw std::runtime_error(std::string("JSON: ") + json.dump() + " is no " + kind);
  }
}

}  // namespace

Json::Json() : value_(new Value{nlohmann::json::object()}) {}
Json::Json(const Json& other) : value_(new Value(*other.value_)) {}
Json::Json(Json&& other) noexcept = default;
Json& Json::operator=(const Json& other) {
  *value_ = *other.value_;
  return *this;
}
Json& Json::operator=(Json&& other) noexcept = default;
Json::~Json() = default;
Json::Json(std::unique_ptr<Value> value) : value_(std::move(value)) {}

Json Json::read(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  auto json = nlohmann::json::parse(file, nullptr, false);
  if (json.is_discarded()) throw std::runtime_error(path + " is no JSON");
  return Json(std::unique_ptr<Value>(new Value{std::move(json)}));
}

void Json::write(const std::string& path) const {
  errno = 0;
  std::ofstream file(path);
  file << value_->json.dump(2) << '\n';
  file.close();
  if (!file)
    throw Error(errors::system_refused, errno != 0 ? errno : EIO,
                "cannot write " + path + "; name another file");
}

Json& Json::set(const std::string& key, bool value) {
  value_->json[key] = value;
  return *this;
}
Json& Json::set(const std::string& key, double value) {
  value_->json[key] = value;
  return *this;
}
Json& Json::set(const std::string& key, std::int64_t value) {
  value_->json[key] = value;
  return *this;
}
Json& Json::set(const std::string& key, std::uint32_t value) {
  value_->json[key] = value;
  return *this;
}
Json& Json::set(const std::string& key, std::uint64_t value) {
  value_->json[key] = value;
  return *this;
}
Json& Json::set(const std::string& key, const char* value) { return set(key, std::string(value)); }
Json& Json::set(const std::string& key, const std::string& value) {
  value_->json[key] = value;
  return *this;
}
Json& Json::set(const std::string& key, const std::vector<std::string>& value) {
  value_->json[key] = value;
  return *this;
}
Json& Json::set(const std::string& key, const Json& value) {
  value_->json[key] = value.value_->json;
  return *this;
}

void Json::merge(const Json& other) { value_->json.update(other.value_->json); }

bool Json::has(const std::string& key) const { return value_->json.contains(key); }

Json Json::at(const std::string& key) const {
  if (!has(key)) throw std::runtime_error("JSON: there is no member \"" + key + "\"");
  return Json(std::unique_ptr<Value>(new Value{value_->json.at(key)}));
}

std::vector<std::string> Json::keys() const {
  std::vector<std::string> keys;
  if (!value_->json.is_object()) throw std::runtime_error("JSON: an object is wanted");
  for (auto at = value_->json.begin(); at != value_->json.end(); ++at) keys.push_back(at.key());
  return keys;
}

double Json::number() const { return as<double>(value_->json, "number"); }
std::string Json::text() const { return as<std::string>(value_->json, "text"); }
std::vector<std::string> Json::texts() const {
  return as<std::vector<std::string>>(value_->json, "list of texts");
}

}  // namespace viaduct::program
