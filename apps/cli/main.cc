#include "gauze/engine/families.h"
#include "program.h"

int main(int argc, char** argv) {
  return gauze::cli::run_program(gauze::built_in(), argc, argv);
}
