# Sourced: a check that cannot fail is no check. Copies the sources, breaks the copy, and expects the check to fail.

twin=$(mktemp -d)
trap 'rm -rf "$twin"' EXIT

# broken "what is broken" CHECK COMMAND
broken() {
  rm -rf "${twin:?}"/*
  cp -r src apps docs tests .clang-format "$twin"/
  bash "tests/static/$2.sh" "$twin" >/dev/null || { echo "$2 fails on the sources as they are"; exit 1; }
  (cd "$twin" && eval "$3")
  if bash "tests/static/$2.sh" "$twin" >/dev/null; then
    echo "$2 does not notice $1"
    exit 1
  fi
}
