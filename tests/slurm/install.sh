#!/usr/bin/env bash
# Slurm, from Debian's or Ubuntu's packages.
set -euo pipefail
there() { for program in munged slurmctld slurmd sbatch ip; do command -v $program > /dev/null || return 1; done; }

there && exit 0
"$(dirname "$0")/../../tools/apt-without-services.sh" slurmctld slurmd slurm-client munge iproute2
there
