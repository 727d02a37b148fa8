#!/usr/bin/env bash
# clang-tidy over csrc/ and the simulated GPU, with the checks of .clang-tidy; any finding fails. Kernels are left out: they count in
# int, as a GPU's registers do, which the checks advise against.
#
#   scripts/tidy.sh [quick|all] [PATTERN]
#
# `quick` leaves out the static analyzer and the bindings, whose headers cost more than the rest together; CI runs that. PATTERN
# (an extended regular expression) restricts the files. Needs clang-tidy and CMake, and for the bindings pybind11.
set -euo pipefail
cd "$(dirname "$0")/.."

extent=${1:-all} pattern=${2:-.}
options=(-G Ninja -DCMAKE_EXPORT_COMPILE_COMMANDS=ON -DFASTSQL_CUDA=SIMULATED)
checks=""
case $extent in
  quick) checks="-clang-analyzer-*" ;;
  all) options+=(-DFASTSQL_PYTHON=ON -Dpybind11_DIR="$(python -m pybind11 --cmakedir)" -DPython_EXECUTABLE="$(command -v python)") ;;
  *) echo "no such extent: $extent" >&2; exit 2 ;;
esac
folder=build/tidy-$extent
cmake -S . -B "$folder" "${options[@]}" >/dev/null

# A kernel is compiled once per instruction set; reading it once is enough.
python - "$folder/compile_commands.json" "$pattern" >"$folder/files" <<'PY'
import json
import pathlib
import re
import sys

database = pathlib.Path(sys.argv[1])
commands = {command["file"]: command for command in json.loads(database.read_text()) if not command["file"].endswith(".cu")}
database.write_text(json.dumps(list(commands.values())))
print(*(file for file in sorted(commands) if re.search(sys.argv[2], file)), sep="\n")
PY
xargs -r -P "$(nproc)" -n 1 clang-tidy -quiet -checks="$checks" -p "$folder" <"$folder/files" 2>/dev/null
echo "clang-tidy: $(wc -l <"$folder/files") files, nothing found"
