# SPDX-License-Identifier: GPL-3.0-or-later
# Completion of shardopt in bash. Commands and options are those that the program's own --help has, models and chips those
# that it lists, so that nothing has to be kept in step but the few lists of values below.
# Installed to share/bash-completion/completions/shardopt; or: . docs/completion/shardopt.bash

_shardopt_commands() { "$1" --help 2>/dev/null | sed -n 's/^  \([a-z][a-z]*\) .*/\1/p'; }
_shardopt_options() { "$1" "$2" --help 2>/dev/null | grep -oE -- '(^|[ ,])--[a-z][a-z-]*' | tr -d ' ,' | sort -u; }
_shardopt_names() { "$1" "$2" --format json 2>/dev/null | sed -n 's/^    "name": "\(.*\)",$/\1/p'; }
_shardopt_formats() { echo maxtext torchtitan megatron jax deepspeed; }

_shardopt() {
    local program=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=plan
    local values='' lead='' i
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
        -*) [ "$i" = 1 ] && break ;;
        *) [ "$i" = 1 ] && command=${COMP_WORDS[i]}; break ;;
        esac
    done
    COMPREPLY=()
    case $before in
    --model) values=$(_shardopt_names "$program" models) ;;
    --chip) values=$(_shardopt_names "$program" chips) ;;
    --for | --config-format) values=$(_shardopt_formats) ;;
    --format) values='text json markdown html csv' ;;
    --padding) values='none launchable any' ;;
    --objective) values='time chip-hours cost' ;;
    --precision) values='bf16 fp8 mxfp8 nvfp4 int8' ;;
    --nesting) values='default maxtext jax megatron megatron-pp-dp torchtitan all' ;;
    --schedules) values='launchable all gpipe 1f1b interleaved circular zb_h1 dualpipe' ;;
    --color) values='auto always never' ;;
    esac
    if [ -n "$values" ]; then
        case $word in # sweeps take lists
        *,*) lead=${word%,*}, word=${word##*,} ;;
        esac
        mapfile -t COMPREPLY < <(compgen -P "$lead" -W "$values" -- "$word")
        [ "$before" = --model ] && mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY < <(compgen -f -- "$word")
        return
    fi
    case $word in
    -*) mapfile -t COMPREPLY < <(compgen -W "$(_shardopt_options "$program" "$command")" -- "$word") ;;
    *)
        if [ "$COMP_CWORD" = 1 ]; then
            values="$(_shardopt_commands "$program") help"
        else
            case $command in
            emit) values=$(_shardopt_formats) ;;
            models | chips) values=$(_shardopt_names "$program" "$command") ;;
            esac
        fi
        mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word"; [ "$COMP_CWORD" = 1 ] || compgen -f -- "$word")
        ;;
    esac
}
complete -o filenames -F _shardopt shardopt
