#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Holds launch files against the best plan that their own launchers can launch: what action.yml and the hook of
# .pre-commit-hooks.yaml run. Every file is checked, also behind one that fails.
#
# usage: check_configs.sh [OPTIONS of `shardopt check`] [--] FILE...
# In the environment: SHARDOPT (the program, default shardopt), MARKDOWN (a file that what happened is added to), JUNIT (a
# folder for one file of XML each). Exit: 0; 1 a file is too slow; 2 one cannot be read; else what shardopt exits with.
set -uo pipefail
program=${SHARDOPT:-shardopt}
options=() files=()
while [ $# -gt 0 ]; do
    case $1 in
    --) shift; files+=("$@"); break ;;
    --*=*) options+=("$1") ;;
    --quiet | --variants) options+=("$1") ;;
    --*) options+=("$1" "${2-}"); [ $# -gt 1 ] && shift ;;
    *) files+=("$1") ;;
    esac
    shift
done
[ ${#files[@]} -gt 0 ] || { echo "check_configs.sh: give launch files" >&2; exit 2; }
command -v "$program" >/dev/null || { echo "check_configs.sh: there is no $program; docs/install.md says how to get it" >&2; exit 2; }

# A file that cannot be read is an annotation as well: "runs/a.yml:3:7: what is wrong" at that line.
annotate() { # annotate FILE MESSAGE
    [ -n "${GITHUB_ACTIONS-}" ] || return 0
    local place=''
    [[ $2 =~ :([0-9]+):[0-9]+:\  ]] && place=,line=${BASH_REMATCH[1]}
    local text=${2//'%'/%25}
    printf '::error file=%s%s,title=%s::%s\n' "$1" "$place" "this launch file cannot be checked" "${text//$'\n'/%0A}" >&2
}

worst=0 number=0
[ -z "${MARKDOWN-}" ] || printf '# Launch files against the best plans\n' >>"$MARKDOWN"
for file in "${files[@]}"; do
    number=$((number + 1))
    page=$(mktemp) said=$(mktemp)
    words=(check --from-config "$file" "${options[@]}" --markdown "$page")
    [ -z "${JUNIT-}" ] || { mkdir -p "$JUNIT"; words+=(--junit "$JUNIT/$number.xml"); }
    printf '%s: ' "$file"
    code=0
    "$program" "${words[@]}" 2>"$said" || code=$?
    cat "$said" >&2
    if [ $code -ne 0 ] && [ $code -ne 1 ]; then
        line=$(grep '^shardopt: ' "$said" | grep -v '^shardopt: warning: ' | tail -n 1)
        echo "${line#shardopt: }"
        annotate "$file" "${line#shardopt: }"
    fi
    if [ -n "${MARKDOWN-}" ]; then
        printf '\n## `%s`\n\n' "$file" >>"$MARKDOWN"
        if [ -s "$page" ]; then sed 's/^#/##/' "$page" >>"$MARKDOWN"; else printf '%s\n' "${line-}" >>"$MARKDOWN"; fi
    fi
    rm -f "$page" "$said"
    [ $code -le $worst ] || worst=$code
done
exit $worst
