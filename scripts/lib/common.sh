# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Shell functions shared by the scripts: where the project is, what the machine has, installing packages, reporting.
# Sourced, never run. Needs bash, coreutils, grep, sed and awk only, so that it works on a bare system.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
jobs=${SINTER_JOBS:-$(nproc 2>/dev/null || echo 2)}
started=$SECONDS

say() { printf '%s\n' "$*"; }
complain() { printf '%s\n' "$*" >&2; }
die() { complain "error: $*"; exit 1; }
have() { command -v "$1" >/dev/null 2>&1; }

# step TEXT: one line of progress with the time since the start.
step() { printf '[%3ds] %s\n' $((SECONDS - started)) "$*"; }

# Debian and what is made from it take packages by name; every other system gets told in words.
is_debian() { have apt-get && grep -qs -E '^(ID|ID_LIKE)=.*(debian|ubuntu)' /etc/os-release; }

system_name() { (. /etc/os-release 2>/dev/null && printf '%s' "${PRETTY_NAME:-}") || true; }

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif have sudo; then sudo "$@"
  else return 1
  fi
}

# The first of the compilers named that exists.
first_of() { local name; for name in "$@"; do if have "$name"; then printf '%s' "$name"; return 0; fi; done; return 1; }

header_exists() {  # header_exists doctest/doctest.h: somewhere a compiler looks by itself
  local folder
  for folder in /usr/include /usr/local/include /usr/include/eigen3 /opt/homebrew/include; do
    if [ -e "$folder/$1" ]; then return 0; fi
  done
  return 1
}

# install_packages PACKAGE...: unattended; the packages that the repositories don't have are left out with a word.
install_packages() {
  local log wanted=() package
  log=$(mktemp)
  if ! as_root true; then die "these packages are missing and installing needs root or sudo: $*"; fi
  if ! as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 update -qq >"$log" 2>&1; then
    complain "note: apt-get update failed, going on with the package lists that are here"
  fi
  for package in "$@"; do
    # (grep reads to the end: with -q it would close the pipe early and look like a failure)
    if apt-cache policy "$package" 2>/dev/null | grep 'Candidate: [^(]' >/dev/null; then wanted+=("$package")
    else complain "note: this system's repositories have no package $package"
    fi
  done
  if [ ${#wanted[@]} -gt 0 ]; then
    if ! as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 \
          install -y -qq --no-install-recommends "${wanted[@]}" >"$log" 2>&1; then
      tail -n 15 "$log" >&2; rm -f "$log"
      die "apt-get could not install: ${wanted[*]}"
    fi
  fi
  rm -f "$log"
}

# need COMMAND-OR-HEADER PACKAGE WORDS: collects what is missing; install_missing then installs it or says it in words.
missing_packages=(); missing_words=()
need() {
  case $1 in
    */*) header_exists "$1" && return 0 ;;
    *) have "$1" && return 0 ;;
  esac
  missing_packages+=("$2"); missing_words+=("$3")
}
install_missing() {
  [ ${#missing_packages[@]} -gt 0 ] || return 0
  if is_debian; then
    step "installing: ${missing_packages[*]}"
    install_packages "${missing_packages[@]}"
  else
    complain "This script installs packages by itself on Debian 12 and 13 (and what is made from them) only; this is $(system_name)."
    complain "Please install these, then run it again:"
    local word
    for word in "${missing_words[@]}"; do complain "  - $word"; done
    exit 1
  fi
  missing_packages=(); missing_words=()
}

# The compiler must be able to do C++20 with templates as arguments; g++ 12 and clang 14 are the oldest that are tested.
check_compiler() {
  local major
  if "$1" --version 2>/dev/null | head -n 1 | grep -qi clang; then
    major=$("$1" -dumpversion | cut -d. -f1)
    [ "$major" -ge 14 ] || die "$1 is clang $major; Sinter needs clang 14 or later"
  else
    major=$("$1" -dumpversion | cut -d. -f1)
    [ "$major" -ge 12 ] || die "$1 is g++ $major; Sinter needs g++ 12 or later"
  fi
}

# quietly LOG COMMAND...: runs it with its output in LOG; on failure the end of the log is shown.
quietly() {
  local log=$1; shift
  mkdir -p "$(dirname "$log")"
  if ! "$@" >"$log" 2>&1; then
    complain "failed: $*"; tail -n "${SINTER_LOG_LINES:-40}" "$log" >&2; complain "(the whole log: $log)"
    return 1
  fi
}

# fresh_build_folder FOLDER COMPILER: removes a build folder of another compiler or another place. (CMake would begin it anew
# itself, but forget the other settings of its command line.)
fresh_build_folder() {
  local cache=$1/CMakeCache.txt compiler
  [ -e "$cache" ] || return 0
  compiler=$(sed -n 's/^CMAKE_CXX_COMPILER:[A-Z]*=//p' "$cache")  # compared as text: a pattern `g++` isn't the name g++
  if grep -qxF "CMAKE_HOME_DIRECTORY:INTERNAL=$root" "$cache" &&
     { [ "$compiler" = "$2" ] || [ "$compiler" = "$(command -v "$2")" ]; }; then return 0; fi
  rm -rf "$1"
}

# ---- results of a test run: one line each, a plain last line
passed=0; failed=0; failures=()
pass() { passed=$((passed + 1)); printf '[%4ds] pass  %s\n' $((SECONDS - started)) "$1"; }
fail() { failed=$((failed + 1)); failures+=("$1"); printf '[%4ds] FAIL  %s\n' $((SECONDS - started)) "$1"; }
skip() { printf '[%4ds] skip  %s\n' $((SECONDS - started)) "$1"; }
# check NAME COMMAND...: a result by exit status; output is shown only on failure.
check_logs=${SINTER_LOGS:-$root/build/logs}
check() {
  local name=$1 log; shift
  log=$check_logs/$(printf '%s' "$name" | tr -c 'A-Za-z0-9.\n' '-').log
  if quietly "$log" "$@"; then pass "$name"; else fail "$name"; fi
}
# Checks of one process each, as many at once as jobs: `check_later NAME COMMAND...` starts one, `checks_end` reports them in that order.
late_names=()
check_later() {
  local name=$1 log; shift
  while [ "$(jobs -rp | wc -l)" -ge "$jobs" ]; do wait -n || true; done
  log=$check_logs/late-${#late_names[@]}
  mkdir -p "$check_logs"
  late_names+=("$name")
  rm -f "$log.status"
  (if quietly "$log.log" "$@" >"$log.said" 2>&1; then echo 0 >"$log.status"; else echo 1 >"$log.status"; fi) &
}
checks_end() {
  local i
  wait || true
  for i in "${!late_names[@]}"; do
    if [ "$(cat "$check_logs/late-$i.status" 2>/dev/null || echo 1)" = 0 ]; then pass "${late_names[$i]}"
    else fail "${late_names[$i]}"; cat "$check_logs/late-$i.said" >&2
    fi
  done
  late_names=()
}
final_line() {
  local name
  if [ "$failed" -gt 0 ]; then say "failed:"; for name in "${failures[@]}"; do say "  $name"; done; fi
  say "$passed passed, $failed failed"
  [ "$failed" = 0 ]
}

# ---- the processor
cpu_flags() { grep -m1 -E '^(flags|Features)' /proc/cpuinfo 2>/dev/null || true; }
cpu_has() {  # cpu_has sse2|avx2|avx512
  local flags; flags=$(cpu_flags)
  case $1 in
    sse2) [ "$(uname -m)" = x86_64 ] ;;
    avx2) [[ $flags == *" avx2"* && $flags == *" fma"* ]] ;;
    avx512) [[ $flags == *" avx512f"* && $flags == *" avx512bw"* && $flags == *" avx512dq"* && $flags == *" avx512vl"* ]] ;;
    *) return 1 ;;
  esac
}
