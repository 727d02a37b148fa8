#!/usr/bin/env bash
# Trains the English parser on a machine with a GPU that has neither the data nor a network.
#
#   scripts/train_on_gpu.sh pack runs/ehr-en.corpus               here: the data of $FASTSQL_DATA in one file
#   scripts/train_on_gpu.sh train runs/ehr-en.corpus runs/wide 8  there: for eight minutes, and the checkpoint in parts
#   python scripts/checkpoint_parts.py join runs/wide/parts runs/wide.pt --words ehr-en             here again
#   fastsql export runs/wide.pt --output runs/bundle              and with --mix ehr-en, which it began from
#
# What the file is made of takes a quarter of an hour on two cores, and is kept beside it (cache/). The run needs Python with
# torch, tokenizers, safetensors and sqlglot, the sources and the bundled ehr-en. More settings follow, such as
# --set data.written.pairs=30000 --set data.made.schemas=4000 --set data.made.pairs=20000 for pack (half an hour, 26 MB), and
# --set optim.rate=3e-4 --loaders 7 for train.
set -euo pipefail
cd "$(dirname "$0")/.."
export PYTHONPATH="$PWD/python${PYTHONPATH:+:$PYTHONPATH}" TOKENIZERS_PARALLELISM=false

# A quarter wider than ehr-en, with an encoder that learns, and words of comparisons exchanged; batches as large as they get, as
# each costs the same launches.
WIDE=(--set model.d=320 --set model.heads=10 --set model.ffn=1280 --set model.frozen_layers=0
  --set 'model.encoder="ehr-en"' --set augment.comparisons=0.6
  --set optim.batch_size=64 --set optim.accumulate=2 --set optim.max_tokens=8000
  --set optim.encoder_rate=5e-5 --set optim.rate=4e-4 --set optim.ema=0.999
  --set schedule.order_seed=23 --set schedule.dev_minutes=3.0 --set schedule.dev_limit=200 --set schedule.checkpoint_minutes=60.0)

case "${1:-} $#" in
  "pack "[!01]*)
    python3 -m fastsql train configs/ehr-en.toml --pack "$2" --processes "$(nproc)" "${@:3}"
    ;;
  "train "[!0123]*)
    python3 -m fastsql train "$2" --output "$3" --max-minutes "$4" --warm-start ehr-en --no-bundle "${WIDE[@]}" "${@:5}"
    python3 scripts/checkpoint_parts.py split "$3/last.pt" "$3/parts"
    ;;
  *)
    sed -n '2,14s/^# \{0,1\}//p' "$0" >&2
    exit 2
    ;;
esac
