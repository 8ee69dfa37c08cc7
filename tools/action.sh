#!/usr/bin/env bash
# The load test of action.yml: tools/action.sh. Makes the runs, compares each with the baseline's branch, looks at the series of
# this branch, and removes old runs. Its settings are the variables below; the exit code is the worst: 1, then 3, then 4.
set -uo pipefail

readonly runs=truetail-runs
readonly out="$runs/ci-${GITHUB_RUN_ID:-0}-${GITHUB_RUN_ATTEMPT:-1}"
readonly difference="${TRUETAIL_DIFFERENCE:-truetail-difference.md}"
code=0

# keep CODE: keeps the worst exit code.
keep() {
    case "$1" in
        0) ;;
        4) [[ "${TRUETAIL_OPEN_PASSES:-}" == true || "$code" != 0 ]] || code=4 ;;
        3) [[ "$code" == 1 || "$code" == 2 ]] || code=3 ;;
        *) code="$1" ;;
    esac
}

# added TITLE COMMAND…: adds what a command prints to the difference. Leaves its text in `text`, its exit code in `status`.
added() {
    local title="$1"
    shift
    text="$("$@" 2>&1)"
    status=$?
    printf '%s\n' "$text"
    # Indented, so that no text can end the block.
    { printf '### %s\n\n' "$title"; printf '%s\n' "$text" | sed 's/^/    /'; printf '\n'; } >> "$difference"
}

printf '## truetail\n\n' > "$difference"
hosts=()
[[ "${TRUETAIL_HOSTS_DIFFER:-}" != true ]] || hosts=(--as hosts)

# Words with quotes, as in a shell, without running anything.
declare -a arguments=()
while IFS= read -r word; do arguments+=("$word"); done < <(xargs -n 1 printf '%s\n' <<< "${TRUETAIL_RUN:---all}")
page=()
[[ -z "${GITHUB_STEP_SUMMARY:-}" ]] || page=(--github)
truetail run "${arguments[@]}" --out "$out" --quiet "${page[@]}"
keep $?

while IFS= read -r file; do
    run="$(dirname "$file")"
    name="$(basename "$run")"
    gate=()
    [[ -z "${TRUETAIL_FAIL_IF:-}" ]] || gate=(--fail-if "$TRUETAIL_FAIL_IF")
    added "$name beside ${TRUETAIL_BASELINE:-main}" \
        truetail compare "$run" --baseline "branch=${TRUETAIL_BASELINE:-main}" "${hosts[@]}" "${gate[@]}"
    # The first run of all has no baseline, and without a condition nothing was asked.
    [[ "$status" == 4 && ( -z "${TRUETAIL_FAIL_IF:-}" || "$text" == *"so nothing is compared"* ) ]] || keep "$status"

    # A pull request has few runs of its own.
    [[ -z "${GITHUB_BASE_REF:-}" ]] || continue
    gate=()
    [[ -z "${TRUETAIL_HISTORY_FAIL_IF:-}" ]] || gate=(--fail-if "$TRUETAIL_HISTORY_FAIL_IF")
    series=("$name" --dir "$runs")
    [[ "$run" != "$out" ]] || series=("$runs")
    added "$name since it is measured" \
        truetail history "${series[@]}" --tag "branch=${GITHUB_REF_NAME:-main}" "${hosts[@]}" "${gate[@]}"
    keep "$status"
done < <(find "$out" -name run.json | sort)

truetail runs keep "$runs" --last "${TRUETAIL_KEEP:-200}" --yes
[[ -z "${GITHUB_STEP_SUMMARY:-}" ]] || cat "$difference" >> "$GITHUB_STEP_SUMMARY"
exit "$code"
