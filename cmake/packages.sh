# Sourced by ./run, ./test and what is in bench/: makes sure that Debian packages and DuckDB are there. Nothing is contacted when they are.

say() { printf '\033[2m── %s\033[0m\n' "$*" >&2; }

# fail CODE MESSAGE...: 69 means that something outside this tree is unavailable.
fail() {
  local code=$1
  shift
  printf 'gauze: %s\n' "$@" >&2
  exit "$code"
}

build_packages="cmake ninja-build g++ pkg-config libssl-dev libboost-dev libgmp-dev libmpfr-dev libeigen3-dev \
nlohmann-json3-dev libcli11-dev libpg-query-dev libsqlite3-dev libpq-dev libedit-dev \
libzstd-dev zlib1g-dev"
test_packages="libgtest-dev libgmock-dev clang-format postgresql"
tidy_packages="clang-tidy"
bench_packages="libbenchmark-dev python3-venv"

missing_packages() {
  local package
  for package in "$@"; do
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null) == installed ]] || echo "$package"
  done
}

# need_packages "why" package...
need_packages() {
  local why=$1
  shift
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    say "this is not Debian or a relative of it: assuming that these are installed: $*"
    return
  fi
  local missing
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]})) || return 0

  local as_root=()
  if ((EUID != 0)); then
    command -v sudo >/dev/null ||
      fail 69 "these packages are missing: ${missing[*]}" \
        "installing them needs root, and there is no sudo here; ask an administrator to run:" \
        "  apt-get install ${missing[*]}"
    as_root=(sudo)
  fi
  say "installing ${missing[*]} ($why)"
  say "from this machine's package sources, with apt-get${as_root:+ through sudo}"
  "${as_root[@]}" apt-get -q update >&2 || say "the package lists could not be refreshed; trying with those at hand"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -qy install --no-install-recommends "${missing[@]}" >&2 || true
  mapfile -t missing < <(missing_packages "$@")
  ((${#missing[@]} == 0)) ||
    fail 69 "these packages could not be installed: ${missing[*]}" \
      "apt-get says why above; check the network and /etc/apt/sources.list, or install them by hand, and call again."
}

duckdb_version=1.4.4
duckdb_binding=1.4.4-r.4

# need_duckdb ROOT: DuckDB's shared library and its C header in ROOT/build/deps/duckdb, out of two npm packages.
need_duckdb() {
  local home=$1/build/deps/duckdb machine work
  [[ $(cat "$home/version" 2>/dev/null) == "$duckdb_binding" ]] && return
  case $(uname -m) in
    x86_64) machine=x64 ;;
    aarch64) machine=arm64 ;;
    *) fail 69 "DuckDB has no package for $(uname -m); Gauze runs on x86_64 and aarch64" ;;
  esac
  command -v npm >/dev/null || need_packages "to fetch DuckDB" npm
  say "fetching DuckDB $duckdb_version with npm (reads CSV, Parquet and JSON; kept in build/deps)"
  work=$(mktemp -d)
  (
    cd "$work"
    npm pack --silent "@duckdb/node-bindings-linux-$machine@$duckdb_binding" "duckdb@$duckdb_version" >&2 &&
      mkdir -p include lib &&
      tar xzf "duckdb-node-bindings-linux-$machine-$duckdb_binding.tgz" -O package/libduckdb.so >lib/libduckdb.so &&
      tar xzf "duckdb-$duckdb_version.tgz" -O package/src/duckdb/src/include/duckdb.h >include/duckdb.h &&
      rm -- *.tgz && echo "$duckdb_binding" >version
  ) || fail 69 "DuckDB could not be fetched; npm says why above; check the network and npm's registry setting, and call again."
  rm -rf "$home"
  mkdir -p "${home%/*}"
  chmod 755 "$work"
  mv "$work" "$home"
}
