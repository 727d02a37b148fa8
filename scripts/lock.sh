#!/usr/bin/env bash
# Renews requirements/ci.txt: the exact version, and the SHA-256 of every file, of all that CI installs but PyTorch.
#
#   scripts/lock.sh [PACKAGE...]           # default: everything; with names, only those
#
# Resolved for Linux and every Python that pyproject.toml supports, with markers where they differ. Needs Python 3.11 and the
# package index that pip uses; no address of one is written. Read what changed before you commit it.
set -euo pipefail
cd "$(dirname "$0")/.."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_QUIET=1
lock=requirements/ci.txt

python3 -m venv "$work/venv"
"$work/venv/bin/pip" install "uv>=0.9,<1"
"$work/venv/bin/python" - >"$work/build.in" <<'PY'
import pathlib
import tomllib

print(*tomllib.loads(pathlib.Path("pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"], sep="\n")
PY

[[ -e $lock ]] && cp "$lock" "$work/ci.txt"
upgrade=()
for package in "$@"; do
  upgrade+=(--upgrade-package "$package")
done
((${#upgrade[@]})) || upgrade=(--upgrade)
extras=(--extra cpu --extra fast --extra train --extra db --extra ray --extra dev)
"$work/venv/bin/uv" pip compile --quiet "${extras[@]}" "${upgrade[@]}" --universal --python-version 3.10 --generate-hashes \
  --no-header --no-annotate --no-emit-index-url --no-emit-find-links --output-file "$work/ci.txt" \
  pyproject.toml requirements/ci.in requirements/release.in requirements/torch.txt "$work/build.in" >/dev/null

# PyTorch has a file of its own, and what only its GPU builds need is never installed here.
{
  echo "# Written by scripts/lock.sh: what .ci/run installs, to be downloaded with --require-hashes. PyTorch: torch.txt."
  awk '/^[^ ]/ { kept = !/^(torch|triton|nvidia-[a-z0-9-]+|cuda-[a-z0-9-]+)==/ && !/sys_platform == .(win32|emscripten)/ } kept' \
    "$work/ci.txt"
} >"$work/new"
cp "$work/new" "$lock"
echo "$lock: $(grep -c '==' "$lock") versions"
