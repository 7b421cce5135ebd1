#!/usr/bin/env bash
# Runs a long command on a Ray cluster of all nodes of a job, whose environment has the extra [ray]:
#
#   sbatch --nodes=4 examples/slurm/ray.sh evaluate --agents A B C --deals 1000000 --results results.db
#
# The same command again goes on from its file.
#SBATCH --ntasks-per-node=1
#SBATCH --cpus-per-task=16
set -euo pipefail
umask 077 # nobody else may read the token

export RAY_AUTH_MODE=token
[[ -e ~/.ray/auth_token ]] || ray get-auth-token --generate >/dev/null # in a home that all nodes share
first=$(hostname)
ray start --head --port=6379 --num-cpus="$SLURM_CPUS_PER_TASK"
trap 'ray stop' EXIT
if ((SLURM_NNODES > 1)); then
    srun --nodes=$((SLURM_NNODES - 1)) --ntasks=$((SLURM_NNODES - 1)) --exclude="$first" \
        ray start --address="$first:6379" --num-cpus="$SLURM_CPUS_PER_TASK" --block &
    sleep "${JOINING_SECONDS:-30}" # until the others have joined
fi
RAY_ADDRESS=$first:6379 goita "$@" --workers $((SLURM_NNODES * SLURM_CPUS_PER_TASK))
