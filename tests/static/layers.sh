#!/usr/bin/env bash
# Every #include and every module dependency is allowed by src/gauze/LAYERS. Usage: layers.sh [ROOT]
set -euo pipefail
cd "${1:-.}"

# Both print lines of: place, folder it is in, folder it uses, and whether it is a private dependency.
includes() {
  grep -rnH '^#include "gauze/' src/gauze apps --include='*.h' --include='*.cc' | awk -F: '{
    split($1, path, "/"); split($3, used, "/")
    print $1 ":" $2, (path[1] == "apps" ? "apps" : path[3]), used[2]
  }'
}

dependencies() {
  awk '/^gauze_module\(/ {
    line = $0; gsub(/[()]/, " ", line); n = split(line, word, /[ ]+/); kind = ""
    for (i = 3; i <= n; i++) {
      if (word[i] ~ /^(DEPS|PRIVATE_DEPS|LIBS|PRIVATE_LIBS|TEST_DEPS|TEST_ONLY)$/) kind = word[i]
      else if (word[i] != "" && kind ~ /^(PRIVATE_)?DEPS$/) {
        print "src/gauze/CMakeLists.txt:" NR, word[2], word[i], (kind ~ /PRIVATE/ ? "private" : "")
      }
    }
  }' src/gauze/CMakeLists.txt
}

{ includes; dependencies; } | awk '
  FNR == NR {
    if ($0 ~ /^#/ || NF == 0) next
    if ($0 ~ / only:/) { guarded[$1] = 1; for (i = 3; i <= NF; i++) only[$1, $i] = 1; next }
    if ($0 ~ / also:/) { for (i = 3; i <= NF; i++) also[$i] = 1; next }
    folder = $1; sub(/:$/, "", folder); known[folder] = ++layers
    for (i = 2; i <= NF; i++) allowed[folder, $i] = 1
    next
  }
  {
    if ($1 !~ /CMakeLists/) seen++
    at = $1; from = $2; to = $3
    in_test = at ~ /_(test|bench|fuzz)\.cc:|_test_internal\.h:/
    registers = at ~ /\/(register[a-z_]*|[a-z_]*_task[a-z_]*)\.(h|cc):/ || $4 == "private"
    below = ((from, to) in allowed) || (registers && (to in also) && known[to] < known[from])
    why = ""
    if (!(to in known)) why = "is no folder in LAYERS"
    else if (from != "apps" && !(from in known)) why = "comes from a folder that LAYERS lacks"
    else if (to == "testing" && !in_test && from != "testing") why = "is for tests only"
    else if (from == to || to == "testing") why = ""
    else if (from != "apps" && !below) why = "is not below " from
    else if ((to in guarded) && !((to, from) in only)) why = "may not be used by " from
    if (why != "") { print at ": " from " uses " to ", which " why; bad++ }
  }
  END { if (!seen) { print "found no #include at all: is this the right folder?"; exit 1 }; exit bad > 0 }
' src/gauze/LAYERS -
