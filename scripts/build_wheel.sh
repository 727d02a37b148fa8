#!/usr/bin/env bash
# A source distribution, a wheel for other Linux systems, and their bill of materials.
#
#   scripts/build_wheel.sh [FOLDER]        # default: dist
#
# The wheel is built from the source distribution, with a libstdc++ of its own and without the CUDA core (which few could use). It is
# for systems with glibc 2.28 or later (RHEL 8 and its kin), whichever this one has: auditwheel refuses a module that asks for more. Both
# are reproducible: their dates are SOURCE_DATE_EPOCH's (default: the last commit's) and they hold no path of this machine. Needs GCC;
# pip finds everything else, in the versions of requirements/ci.txt.
set -euo pipefail
cd "$(dirname "$0")/.."

mkdir -p "${1:-dist}"
target=$(cd "${1:-dist}" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_QUIET=1 FASTSQL_NATIVE=require FASTSQL_CUDA=OFF
if [[ -z ${SOURCE_DATE_EPOCH:-} ]]; then
  SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
fi
export SOURCE_DATE_EPOCH
# Rights in an archive come from the files, and those from the umask of whoever checked them out.
umask 022

python3 -m venv "$work/venv"
grep '==' requirements/ci.txt | sed 's/ *\\$//' >"$work/constraints"
export PIP_CONSTRAINT="$work/constraints"  # isolated builds read it, too
"$work/venv/bin/pip" install -r requirements/release.in
export PATH="$work/venv/bin:$PATH"

python -m build --outdir "$work" --config-setting=cmake.define.FASTSQL_STATIC_RUNTIME=ON . >"$work/log" 2>&1 ||
  { tail -50 "$work/log" >&2; exit 1; }
auditwheel repair --plat "manylinux_2_28_$(uname -m)" --wheel-dir "$work/wheel" "$work"/fastsql-*.whl 2>"$work/log" || { cat "$work/log" >&2; exit 1; }
mv "$work"/fastsql-*.tar.gz "$work/wheel/"
python scripts/make_sbom.py "$work/wheel" >/dev/null
mv "$work"/wheel/fastsql-* "$target/"
(cd "$target" && ls -l fastsql-* && sha256sum fastsql-*)
