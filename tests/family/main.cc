// The program with one family more.
#include "gauze/engine/families.h"
#include "program.h"
#include "toy.h"

int main(int argc, char** argv) {
  std::vector<gauze::Family> families = gauze::built_in().families();
  for (gauze::Family& each : toy_families()) families.push_back(std::move(each));
  const gauze::Registry registry(std::move(families));
  return gauze::cli::run_program(registry, argc, argv);
}
