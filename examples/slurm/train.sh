#!/usr/bin/env bash
# Trains a run for each seed, in the folder from which it is submitted:
#
#   sbatch --array=1-8 examples/slurm/train.sh --preset standard
#
# SLURM warns two minutes before the time is over. The training then saves, and the job is queued again; it goes on where
# it stopped.
#SBATCH --cpus-per-task=2
#SBATCH --time=08:00:00
#SBATCH --signal=B:TERM@120
#SBATCH --open-mode=append
set -uo pipefail

run=seed-$SLURM_ARRAY_TASK_ID
if [[ -e runs/$run/config.json ]]; then
    goita train --resume "runs/$run" --no-progress &
else
    goita train --name "$run" --seed "$SLURM_ARRAY_TASK_ID" --threads "$SLURM_CPUS_PER_TASK" --no-progress "$@" &
fi
training=$!
stopped=
trap 'stopped=yes; kill -TERM $training' TERM
wait $training
code=$?
if [[ $stopped ]]; then
    wait $training # the signal ended the first wait
    scontrol requeue "$SLURM_JOB_ID"
    exit
fi
exit $code
