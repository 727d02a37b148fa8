#!/usr/bin/env bash
# The C++ tests, and the Python tests of the native module, under GCC's sanitizers.
#
#   scripts/sanitize.sh [address|thread|all] [cpp|python|all] [PYTEST ARGUMENTS]
#
# `address` is AddressSanitizer with its leak check, and UndefinedBehaviorSanitizer; `thread` is ThreadSanitizer. The former runs
# the CUDA core on the simulated GPU, too, where it checks every access of a kernel; the latter leaves it out. Needs GCC, CMake,
# Ninja and Catch2, and for the Python tests the packages of the extra `dev`, pybind11 and whatever the tests read. Builds in
# build/sanitize-<name>; the first finding ends the run and is shown.
set -euo pipefail
cd "$(dirname "$0")/.."

sanitizers=${1:-all} parts=${2:-all}
case $sanitizers in all) sanitizers="address thread" ;; address | thread) ;; *) echo "no such sanitizer: $1" >&2; exit 2 ;; esac
case $parts in cpp | python | all) ;; *) echo "no such part: $2" >&2; exit 2 ;; esac
shift $(($# < 2 ? $# : 2))

suppressions=$PWD/scripts/sanitizer_suppressions
library() { "${CXX:-g++}" -print-file-name="$1"; }

build() {  # name, value of -fsanitize
  local options=(-G Ninja -DCMAKE_BUILD_TYPE=RelWithDebInfo "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1" -DFASTSQL_TESTS=ON -DFASTSQL_CUDA=OFF -DFASTSQL_SANITIZE="$2")
  if [[ $parts != cpp ]]; then
    options+=(-DFASTSQL_PYTHON=ON -Dpybind11_DIR="$(python -m pybind11 --cmakedir)" -DPython_EXECUTABLE="$(command -v python)")
  fi
  cmake -S . -B "$folder" "${options[@]}" >"$folder.configure.log" || { cat "$folder.configure.log" >&2; return 1; }
  cmake --build "$folder"
}

# The package of this tree with the module just built. Python is not instrumented, so the run-time library goes first; exceptions
# are caught only where libstdc++ is found behind it.
python_tests() {  # run-time library
  local site=$folder/site
  rm -rf "$site" && mkdir "$site"
  cp -rs "$PWD/python/fastsql" "$site/"
  find "$site" -name '_core*.so' -delete
  cp "$folder"/_core*.so "$site/fastsql/"
  LD_PRELOAD="$(library "$1"):$(library libstdc++.so.6)" PYTHONPATH=$site PYTHONMALLOC=malloc PYTHONDONTWRITEBYTECODE=1 \
    FASTSQL_NATIVE=require OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 \
    python -m pytest -q -p no:cacheprovider -n 0 --capture=sys tests/native "${@:2}"  # a finding goes to the real stderr
}

mkdir -p build
for sanitizer in $sanitizers; do
  folder=$PWD/build/sanitize-$sanitizer
  if [[ $sanitizer == address ]]; then
    # With deeper stacks, every leak under Python would match the suppressions of the interpreter. Stack frames stay on the stack:
    # those that GCC 12 and 13 move away to find their use after return are too loosely aligned for AVX-512 (GCC bug 110027).
    export ASAN_OPTIONS=detect_leaks=1:malloc_context_size=2:check_initialization_order=1:detect_stack_use_after_return=0
    export UBSAN_OPTIONS=print_stacktrace=1
    export LSAN_OPTIONS=suppressions=$suppressions/leak.txt:print_suppressions=0
    runtime=libasan.so
    build address address,undefined
  else
    # A forked process may start threads of its own, which ThreadSanitizer refuses unless told otherwise.
    export TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1:die_after_fork=0:suppressions=$suppressions/thread.txt
    runtime=libtsan.so
    build thread thread
  fi
  if [[ $parts != python ]]; then
    printf '\n== C++ tests, %s\n' "$sanitizer"
    ctest --test-dir "$folder" --output-on-failure --parallel "$(nproc)"
  fi
  if [[ $parts != cpp ]]; then
    printf '\n== Python tests of the native module, %s\n' "$sanitizer"
    python_tests "$runtime" "$@"
  fi
done
