#!/usr/bin/env bash
# All that needs a GPU, in one go: sweeps, the suite, what a fault does to the tests after it, and a
# learner's pass. Run from the root of a clone; the outputs go to the folder named as argument.
#
#   bash benchmarks/on_a_gpu.sh benchmarks/results
set -u
out=$(mkdir -p "$1" && cd "$1" && pwd)
python=${PYTHON:-python3}
work=$(mktemp -d)

log() { # name, seconds, command: runs it and keeps what it prints
    local name=$1 seconds=$2
    shift 2
    { echo "\$ $*"; timeout "$seconds" "$@" 2>&1; echo "exit $?"; } \
        | grep -v -e BenchmarkWarning -e 'warner(Py' -e '^\[gw.*python' -e '^rootdir:' \
        | sed -e "s#[./]*$work#…#g" -e "s#$PWD/##g" -e "s#$out#results#g" > "$out/$name.txt"
    tail -n 3 "$out/$name.txt"
}

{
    nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
    "$python" -c 'import sys, torch, triton, cupy, numpy
print("python", sys.version.split()[0], "torch", torch.__version__, "triton", triton.__version__,
      "cupy", cupy.__version__, "numpy", numpy.__version__)'
} | tee "$out/h200-versions.txt"

log h200-sweeps 150 "$python" benchmarks/record_sweeps.py --output "$out/h200.json"
log h200-curriculum 150 "$python" -m pytest --solutions --device cuda --speed curriculum -q
log h200-machinery 400 "$python" -m pytest --solutions --device cuda tests/harness tests/triton -q

# A kernel that writes far away, and one that never ends: each fails by name, once.
cp -r solutions "$work/answers"
"$python" - "$work/answers/lesson_03/kernel.cu" <<'PATCH'
import sys
text = open(sys.argv[1], encoding="utf-8").read()
right = "if (i < n) c[i] = a[i] + b[i];"
assert right in text, "the solution's vec_add has changed: adapt this script"
far = "if (i < n) c[n == 257 ? i + (1LL << 38) : i] = a[i] + b[i];"
endless = "if (n == 33) while (*(volatile const float*)a >= 0.0f || true);\n    " + far
open(sys.argv[1], "w", encoding="utf-8").write(text.replace(right, endless, 1))
PATCH
log h200-faults 150 "$python" -m pytest --device cuda --answers "$work/answers" --timeout 10 \
    curriculum/lesson_03/test_lesson_03.py -q -k "kernel_adds"

# A learner with the right answers in place.
cp -r . "$work/clone" && cd "$work/clone" && rm -f .progress.json
cp solutions/lesson_01/* curriculum/lesson_01/
log h200-learner 100 "$python" -m pytest curriculum/lesson_01
rm -rf "$work"
