#!/usr/bin/env bash
# Builds the distributions twice, in folders of different names, from files of other dates and in another time zone, and compares them
# byte by byte.
#
#   scripts/check_reproducible.sh [FOLDER]
#
# Reads the files that git knows, or would add, as they are in the working tree. What was built first is kept in FOLDER.
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH

second="another, with a longer name"
mkdir "$work/first"
git ls-files -z --cached --others --exclude-standard | while IFS= read -r -d '' file; do
  if [[ -e $file ]]; then printf '%s\0' "$file"; fi
done | xargs -0 cp --parents -t "$work/first"
cp -r "$work/first" "$work/$second"
find "$work/$second" -exec touch -d "2 days ago" {} +
# Side by side: while one waits for a compiler or for pip, the other computes.
TZ=Pacific/Kiritimati "$work/$second/scripts/build_wheel.sh" "$work/$second/dist" >/dev/null &
"$work/first/scripts/build_wheel.sh" "$work/first/dist"
wait $!

cmp_all() {
  for file in "$work/first/dist"/*; do
    cmp "$file" "$work/$second/dist/$(basename "$file")" || return 1
  done
}
cmp_all || { echo "not reproducible" >&2; exit 1; }
if [[ -n ${1:-} ]]; then
  mkdir -p "$1" && cp "$work/first/dist"/* "$1/"
fi
echo "reproducible: both builds are equal, byte by byte"
