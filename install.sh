#!/bin/sh
# Installs a release of Orange. It writes only whole files, each by a rename, and only after every sum is right.
set -eu

# The repository whose releases this installs. `cargo xtask release` writes its address into the copy of a release.
repository=

usage() {
  cat <<'END'
Usage: sh install.sh [--to DIR] [--version VERSION] [--only PROGRAM | --fleet]

  --to DIR           the folder for programs; ~/.local/bin by default
  --version VERSION  this release, as in 0.1.0; the latest by default
  --only PROGRAM     only this program, as in orange-workflow
  --fleet            orange-fleet, too
ORANGE_DOWNLOAD, if set, is the address of the folder with the archives and SHA256SUMS.
END
}
say() { printf '%s\n' "$*"; }
fail() { printf 'error: %s\n' "$*" >&2; exit 1; }
has() { command -v "$1" >/dev/null 2>&1; }

target() {
  case $(uname -m) in
    x86_64 | amd64) processor=x86_64 ;;
    aarch64 | arm64) processor=aarch64 ;;
    *) fail "there is no release for the processor $(uname -m): build Orange from its sources" ;;
  esac
  case $(uname -s) in
    Linux) target=$processor-unknown-linux-musl ;;
    Darwin) target=$processor-apple-darwin ;;
    *) fail "there is no release for the system $(uname -s): build Orange from its sources" ;;
  esac
}

# Downloads the file $1 of the release into the temporary folder.
fetch() {
  if has curl; then curl -fsSL --proto-redir '=https' --connect-timeout 30 -o "$temporary/$1" "$base/$1"
  else wget -q -t 2 -O "$temporary/$1" "$base/$1"; fi || fail "$base/$1 cannot be downloaded whole; nothing is changed"
}

sum_of() { if has sha256sum; then sha256sum <"$1"; else shasum -a 256 <"$1"; fi | cut -d ' ' -f 1; }
# Downloads, checks and unpacks the archive of package $1 for this system into the temporary folder.
unpack() {
  sum='' archive=''
  while read -r its_sum name; do
    case $name in
      */*) ;;
      "$1"-[0-9]*-"$target".tar.gz) sum=$its_sum archive=$name ;;
    esac
  done <"$temporary/SHA256SUMS"
  [ -n "$archive" ] || fail "the release at $base has no archive of $1 for $target: build Orange from its sources"
  found=${archive#"$1"-}; found=${found%-"$target".tar.gz}
  [ "${version:-$found}" = "$found" ] || fail "the release at $base is $found, and not $version"
  fetch "$archive"
  [ "$(sum_of "$temporary/$archive")" = "$sum" ] || fail "$archive is not the file that SHA256SUMS names; nothing is changed"
  tar -xzo -f "$temporary/$archive" -C "$temporary" || fail "$archive cannot be unpacked; nothing is changed"
  unpacked=$temporary/${archive%.tar.gz}
}

# Puts the file $1 into the folder $2, whole or not at all.
place() {
  name=${1##*/}
  mkdir -p "$2" && cp "$1" "$2/.$name.new" && mv -f "$2/.$name.new" "$2/$name" || fail "$2/$name cannot be written"
}

place_all() {
  for file in "$unpacked"/bin/${only:-*}; do place "$file" "$to"; done
  [ -z "$only" ] || return 0
  for file in "$unpacked"/share/*/*/*; do
    [ ! -f "$file" ] || { folder=${file%/*}; place "$file" "$share/${folder#"$unpacked"/share/}"; }
  done
}

missing() {
  for program in tmux git; do has "$program" || say "missing: $program; install it with the packages of your system"; done
  for agent in claude codex opencode pi gemini copilot; do ! has "$agent" || return 0; done
  say "missing: a coding agent, for example claude, codex, opencode, pi, gemini or copilot"
}

main() {
  to=${HOME:+$HOME/.local/bin} version='' only='' fleet=''
  while [ $# -gt 0 ]; do
    case $1 in --to | --version | --only) [ -n "${2:-}" ] || fail "$1 needs a value; --help lists the options" ;; esac
    case $1 in
      --to) to=$2; shift ;; --version) version=${2#v}; shift ;; --only) only=$2; shift ;; --fleet) fleet=yes ;;
      --help | -h) usage; return ;;
      *) fail "there is no option $1; --help lists the options" ;;
    esac
    shift
  done
  [ -n "$to" ] || fail "HOME is not set: name a folder with --to DIR"
  target
  base=${ORANGE_DOWNLOAD:-}
  [ -n "$base$repository" ] || fail "this install.sh is of no release: take that of a release, or set ORANGE_DOWNLOAD"
  [ -n "$version" ] && release=download/v$version || release=latest/download
  base=${base:-$repository/releases/$release}
  has curl || has wget || fail "curl or wget is missing, and one of them is needed for the download"
  has sha256sum || has shasum || fail "sha256sum or shasum is missing, and one of them is needed to check the download"
  mkdir -p "$to" && to=$(cd "$to" && pwd) && temporary=$(mktemp -d "$to/.orange-install.XXXXXX") ||
    fail "$to cannot be written: name another folder with --to DIR"
  trap 'rm -rf "$temporary"' EXIT; trap 'exit 130' HUP INT TERM
  case $to in */bin) share=${to%/bin}/share ;; *) share=$to/share ;; esac
  fetch SHA256SUMS
  if [ -n "$fleet" ]; then unpack orange-fleet; fleet=$unpacked; fi
  unpack orange
  first=$unpacked/bin/${only:-orange}
  [ -f "$first" ] || fail "$archive has no program ${first##*/}; nothing is changed"
  "$first" --version >/dev/null || fail "${first##*/} of $archive does not run on this system; nothing is changed"
  place_all
  [ -z "$fleet" ] || { unpacked=$fleet; place_all; }
  say "Orange $found is installed in $to"
  [ -z "$only" ] || return 0
  case :$PATH: in *:"$to":*) ;; *) say "missing: $to on PATH; add it in your shell's profile: export PATH=\"$to:\$PATH\"" ;; esac
  missing
  say "next: run \`orange setup\`"
}

# A copy of this script that was cut ends before this line, and does nothing.
main "$@"
