#include "gauze/service/artifact.h"

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "gauze/base/error.h"
#include "gauze/service/digest.h"
#include "gauze/service/files.h"
#include "gauze/service/values.h"

namespace gauze::service {
namespace {

constexpr const char* kCheckpoint = "checkpoint";
/// The first line is short, whatever follows.
constexpr std::size_t kMostHead = 4096;

struct Sealed {
  std::string format;
  std::uint32_t version = 0;
  std::string job;  ///< of a checkpoint
  std::string bytes;
};

std::string sealed(const Sealed& file) {
  Json head = {{"gauze", file.format}, {"version", file.version}};
  if (!file.job.empty()) head["job"] = file.job;
  head["bytes"] = file.bytes.size();
  head["checksum"] = digest_of(head.dump() + file.bytes);
  return head.dump() + "\n" + file.bytes;
}

/// Throws `kInvalidInput` for what `sealed` has not written.
Sealed opened(const std::string& path, const std::string& text) {
  const auto refused = [&](const std::string& why) {
    return Error(ErrorCode::kInvalidInput, "the file '" + path + "' " + why);
  };
  const std::size_t end = text.substr(0, kMostHead).find('\n');
  const Json head = Json::parse(text.substr(0, end == std::string::npos ? 0 : end), nullptr, false);
  const auto is_text = [&](const char* key) { return head.contains(key) && head[key].is_string(); };
  const auto is_number = [&](const char* key) {
    return head.contains(key) && head[key].is_number_unsigned();
  };
  if (!head.is_object() || !is_text("gauze") || !is_number("version") || !is_number("bytes") ||
      !is_text("checksum"))
    throw refused("was not written by gauze");
  Sealed file{head["gauze"], 0, is_text("job") ? head["job"].get<std::string>() : "",
              text.substr(end + 1)};
  if (head["version"].get<std::uint64_t>() > UINT32_MAX) throw refused("was not written by gauze");
  file.version = head["version"];
  if (head["bytes"] != file.bytes.size()) throw refused("is cut short, or something was added");
  if (sealed(file) != text) throw refused("was changed: its checksum does not fit");
  return file;
}

}  // namespace

void write_artifact(const Artifact& artifact, const std::string& path) {
  write_all(path, sealed({artifact.format, artifact.version, "", artifact.bytes}));
}

std::string read_artifact(const std::string& path, std::string_view format, std::uint32_t version) {
  Sealed file = opened(path, read_all(path));
  const auto refuse = [&](const std::string& what, const std::string& wanted) {
    throw Error(ErrorCode::kInvalidInput,
                "the file '" + path + "' holds " + what + "; wanted is " + wanted);
  };
  if (file.format != format) refuse("a " + file.format, "a " + std::string(format));
  if (file.version != version)
    refuse("version " + std::to_string(file.version) + " of a " + file.format,
           "version " + std::to_string(version) + ", the only one that is read");
  return std::move(file.bytes);
}

Checkpoint::Checkpoint(std::string path, std::string job)
    : path_(std::move(path)), job_(std::move(job)) {
  check_writable(path_);
  std::error_code failed;
  if (!std::filesystem::exists(path_, failed)) return;
  Sealed file = opened(path_, read_all(path_));
  if (file.format != kCheckpoint || file.version != 1)
    throw Error(ErrorCode::kInvalidInput,
                "the file '" + path_ + "' is no checkpoint; name a file that is not there");
  if (file.job != job_)
    throw Error(ErrorCode::kInvalidOption,
                "checkpoint: '" + path_ +
                    "' is of another question, or of other options or other data; name a file that "
                    "is not there");
  state_ = std::move(file.bytes);
}

void Checkpoint::keep_for(Watch& watch) {
  watch.saved = [this] { return state_; };
  watch.save = [this](std::string_view state) {
    state_ = std::string(state);
    write_all(path_, sealed({kCheckpoint, 1, job_, *state_}));
  };
}

void Checkpoint::remove() const {
  std::remove(path_.c_str());
}

}  // namespace gauze::service
