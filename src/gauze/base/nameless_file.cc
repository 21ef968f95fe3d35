#include "gauze/base/nameless_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

namespace gauze::internal {

int open_nameless(const std::string& folder) {
  const int direct = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (direct >= 0) return direct;
  std::string path = folder + "/gauze-XXXXXX";
  const int named = ::mkostemp(path.data(), O_CLOEXEC);
  if (named >= 0) ::unlink(path.c_str());
  return named;
}

}  // namespace gauze::internal
