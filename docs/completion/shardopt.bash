# SPDX-License-Identifier: GPL-3.0-or-later
# Completion of shardopt in bash, made by packaging/words.py from the rows of the commands.
# Installed to share/bash-completion/completions/shardopt; or: . docs/completion/shardopt.bash

_shardopt_names() {
    "$1" "$2" --format json 2>/dev/null |
        sed -n 's/^    "name": "\(.*\)",$/\1/p; /^    "aliases": \[$/,/\]/s/^      "\([^"]*\)",*$/\1/p'
}

_shardopt_commands='plan explain emit models chips validate calibrate check layout diff sweep merge inference trace bench rl program help'

_shardopt_options() { # COMMAND
    case $1 in
    plan) echo '--model --chip --pods --slice --slices --chips --nodes --gpus-per-node --oversubscription --network --host-memory --price --batch --sequences --seq --tokens --lora --qlora --targets --freeze --task --mean-length --max-length --packing --samples --epochs --mtbf --restart --storage --lengths --require --for --max-idle --batch-tolerance --padding --schedules --nesting --objective --top --variants --sensitivity --precision --optimizer --state-dtypes --remat --offload --hbm-reserve --profile --stack --brute-force --time-limit --memory-limit --gap --threads --rank --certificate --what-if --format --output --timing --verbose --quiet --color --version --ignore-unknown --help' ;;
    explain) echo '--model --chip --pods --slice --slices --chips --nodes --gpus-per-node --oversubscription --network --host-memory --price --batch --sequences --seq --tokens --lora --qlora --targets --freeze --task --mean-length --max-length --packing --samples --epochs --mtbf --restart --storage --lengths --require --for --max-idle --batch-tolerance --padding --schedules --nesting --objective --precision --optimizer --state-dtypes --remat --offload --hbm-reserve --profile --stack --time-limit --memory-limit --threads --plan --plans --from --rank --from-config --config-format --why-not --format --output --timing --verbose --quiet --color --version --ignore-unknown --help' ;;
    emit) echo '--model --chip --pods --slice --slices --chips --nodes --gpus-per-node --oversubscription --network --host-memory --price --batch --sequences --seq --tokens --lora --qlora --targets --freeze --task --mean-length --max-length --packing --samples --epochs --mtbf --restart --storage --lengths --require --for --max-idle --batch-tolerance --padding --schedules --nesting --objective --precision --optimizer --state-dtypes --remat --offload --hbm-reserve --profile --stack --time-limit --memory-limit --threads --plan --from --rank --from-config --config-format --under --output --timing --verbose --quiet --version --ignore-unknown --help' ;;
    models) echo '--format --help' ;;
    chips) echo '--format --help' ;;
    validate) echo '--format --output --plot --profile --source --chip --max-error --min-ranking --worst --sets --threads --verbose --facts --help' ;;
    calibrate) echo '--output --profile --begin --only --exclude-flagged --folds --date --format --threads --verbose --facts --help' ;;
    check) echo '--baseline --tolerance --update --within --markdown --junit --model --chip --pods --slice --slices --chips --nodes --gpus-per-node --oversubscription --network --host-memory --price --batch --sequences --seq --tokens --lora --qlora --targets --freeze --task --mean-length --max-length --packing --samples --epochs --mtbf --restart --storage --lengths --require --for --max-idle --batch-tolerance --padding --schedules --nesting --objective --precision --optimizer --state-dtypes --remat --offload --hbm-reserve --profile --stack --time-limit --memory-limit --threads --plan --from --rank --from-config --config-format --format --output --quiet --version --ignore-unknown --help' ;;
    layout) echo '--time-limit --effort --solution --format --output --threads --timing --verbose --quiet --help' ;;
    diff) echo '--format --output --exit-code --quiet --help' ;;
    sweep) echo '--model --chip --pods --slice --slices --chips --nodes --gpus-per-node --oversubscription --network --host-memory --price --batch --sequences --seq --tokens --lora --qlora --targets --freeze --task --mean-length --max-length --packing --samples --epochs --mtbf --restart --storage --lengths --require --for --max-idle --batch-tolerance --padding --schedules --nesting --objective --precision --optimizer --state-dtypes --remat --offload --hbm-reserve --profile --stack --brute-force --time-limit --memory-limit --gap --threads --rank --shard --resume --deadline --budget --format --output --quiet --version --ignore-unknown --help' ;;
    merge) echo '--format --output --quiet --deadline --budget --help' ;;
    inference) echo '--model --chip --pods --slice --slices --chips --nodes --gpus-per-node --oversubscription --network --host-memory --price --prompt --answer --lengths --cached --ttft --tpot --rate --rates --concurrency --requests --finish-in --speculate --adapters --prefixes --engine --mode --require --objective --top --precision --kv-dtype --max-model-len --gpu-memory-utilization --profile --brute-force --time-limit --from-config --certificate --what-if --format --output --timing --verbose --quiet --ignore-unknown --help' ;;
    trace) echo '--model --chip --pods --slice --slices --chips --nodes --gpus-per-node --oversubscription --network --host-memory --price --batch --sequences --seq --precision --optimizer --remat --profile --stack --from --rank --from-config --config-format --refit --format --output --ignore-unknown --help' ;;
    bench) echo '--model --chip --pods --slice --slices --chips --nodes --gpus-per-node --oversubscription --network --host-memory --price --batch --sequences --seq --precision --optimizer --remat --profile --stack --from --rank --from-config --config-format --read --refit --format --output --ignore-unknown --help' ;;
    rl) echo '--model --chip --pods --slice --slices --chips --nodes --gpus-per-node --oversubscription --network --host-memory --price --lora --targets --samples --mtbf --restart --prompt --answer --lengths --max-answer --turns --tool-time --prompts --algorithm --teacher --critic --reward --reward-on --logprobs --train-batch --kept --lag --partial --colocated --train-nodes --train-plan --rollout-chip --rollout-nodes --rollout --rollout-memory --front --engine --for --objective --precision --rollout-precision --kv-dtype --remat --brute-force --from-config --emit --what-if --format --output --timing --verbose --quiet --ignore-unknown --help' ;;
    program) echo '--chip --pods --slice --slices --chips --nodes --gpus-per-node --oversubscription --network --host-memory --price --hbm-reserve --profile --stack --time-limit --threads --axes --fix --fix-batch --rules --annotate --graph --format --output --timing --verbose --quiet --help' ;;
    esac
}

_shardopt_values() { # COMMAND OPTION
    case $1 in
    models)
        case $2 in
        --format) echo 'text json' ;;
        esac
        ;;
    chips)
        case $2 in
        --format) echo 'text json' ;;
        esac
        ;;
    validate)
        case $2 in
        --format) echo 'text json markdown html' ;;
        --output) echo '@files' ;;
        --plot) echo '@files' ;;
        --profile) echo 'default ideal' ;;
        --chip) echo '@chips' ;;
        --sets) echo '@files' ;;
        esac
        ;;
    calibrate)
        case $2 in
        --output) echo '@files' ;;
        --profile) echo 'default' ;;
        --begin) echo 'priors values' ;;
        --format) echo 'text json markdown' ;;
        esac
        ;;
    layout)
        case $2 in
        --solution) echo '@files' ;;
        --format) echo 'text json' ;;
        --output) echo '@files' ;;
        esac
        ;;
    diff)
        case $2 in
        --format) echo 'text json markdown html' ;;
        --output) echo '@files' ;;
        esac
        ;;
    merge)
        case $2 in
        --format) echo 'text json csv markdown html' ;;
        --output) echo '@files' ;;
        esac
        ;;
    inference)
        case $2 in
        --model) echo '@models' ;;
        --chip) echo '@chips' ;;
        --lengths) echo 'azure-chat azure-code long-documents mooncake-agent mooncake-chat rag reasoning sharegpt short-chat summarization' ;;
        --rates) echo '@files' ;;
        --engine) echo 'vllm sglang tensorrt-llm maxtext any' ;;
        --mode) echo 'aggregated disaggregated any decode prefill' ;;
        --objective) echo 'throughput latency cost chips' ;;
        --precision) echo 'bf16 fp8 int8 mxfp4 nvfp4 int4' ;;
        --kv-dtype) echo 'bf16 fp8 int8 int4' ;;
        --profile) echo 'default ideal' ;;
        --from) echo '@files' ;;
        --from-config) echo '@files' ;;
        --under) echo 'slurm jobset lws skypilot ray' ;;
        --resume) echo '@files' ;;
        --certificate) echo '@files' ;;
        --format) echo 'text json markdown html csv brief' ;;
        --output) echo '@files' ;;
        esac
        ;;
    rl)
        case $2 in
        --model) echo '@models' ;;
        --chip) echo '@chips' ;;
        --lengths) echo '@files' ;;
        --algorithm) echo 'grpo dapo ppo rloo reinforce++ distillation' ;;
        --teacher) echo '@models' ;;
        --critic) echo '@models' ;;
        --reward) echo '@models' ;;
        --reward-on) echo 'trainer rollout' ;;
        --logprobs) echo 'trainer rollout' ;;
        --partial) echo 'auto yes no' ;;
        --rollout-chip) echo '@chips' ;;
        --engine) echo 'vllm sglang tensorrt-llm' ;;
        --for) echo 'megatron torchtitan deepspeed' ;;
        --objective) echo 'time tokens cost' ;;
        --precision) echo 'bf16 fp8 mxfp8' ;;
        --rollout-precision) echo 'bf16 fp8' ;;
        --kv-dtype) echo 'bf16 fp8' ;;
        --from-config) echo '@files' ;;
        --resume) echo '@files' ;;
        --emit) echo 'nemo-rl verl openrlhf slime trl' ;;
        --format) echo 'text json html brief csv markdown' ;;
        --output) echo '@files' ;;
        esac
        ;;
    program)
        case $2 in
        --chip) echo '@chips' ;;
        --profile) echo 'default ideal' ;;
        --rules) echo '@files' ;;
        --annotate) echo '@files' ;;
        --graph) echo '@files' ;;
        --format) echo 'text json python dtensor' ;;
        --output) echo '@files' ;;
        esac
        ;;
    *)
        case $2 in
        --baseline) echo '@files' ;;
        --markdown) echo '@files' ;;
        --junit) echo '@files' ;;
        --model) echo '@models' ;;
        --chip) echo '@chips' ;;
        --task) echo 'sft dpo' ;;
        --packing) echo 'packed padded padding-free' ;;
        --for) echo 'maxtext torchtitan megatron jax deepspeed trl axolotl llama-factory any' ;;
        --padding) echo 'none launchable any' ;;
        --schedules) echo 'launchable all gpipe 1f1b interleaved circular zb_h1 dualpipe' ;;
        --nesting) echo 'default maxtext jax megatron megatron-pp-dp torchtitan all' ;;
        --objective) echo 'time chip-hours cost' ;;
        --sensitivity) echo 'fast none all rows' ;;
        --precision) echo 'bf16 fp8 mxfp8 nvfp4 int8' ;;
        --optimizer) echo 'adamw adafactor muon lion sophia came sgd sgd-momentum adamw8bit lion8bit' ;;
        --remat) echo 'auto none full' ;;
        --offload) echo 'auto none optimizer activations all parameters' ;;
        --profile) echo 'default ideal' ;;
        --plans) echo '@files' ;;
        --from) echo '@files' ;;
        --rank) echo 'practice time' ;;
        --from-config) echo '@files' ;;
        --config-format) echo 'maxtext torchtitan megatron jax deepspeed' ;;
        --under) echo 'slurm jobset skypilot ray rayjob xpk' ;;
        --resume) echo '@files' ;;
        --certificate) echo '@files' ;;
        --format) echo 'text json markdown html csv brief junit' ;;
        --read) echo '@files' ;;
        --refit) echo '@files' ;;
        --format) echo 'text json html' ;;
        --format) echo 'text json' ;;
        --output) echo '@files' ;;
        --color) echo 'auto always never' ;;
        esac
        ;;
    esac
}

_shardopt_arguments() { # COMMAND
    case $1 in
    emit) echo 'maxtext torchtitan megatron jax deepspeed torchtitan-toml trl axolotl llama-factory vllm sglang tensorrt-llm maxtext-serving dynamo llm-d' ;;
    models) echo '@models' ;;
    chips) echo '@chips' ;;
    validate) echo '@files' ;;
    calibrate) echo '@files' ;;
    layout) echo '@files' ;;
    diff) echo '@files' ;;
    merge) echo '@files' ;;
    trace) echo '@files' ;;
    program) echo '@files' ;;
    esac
}

_shardopt() {
    local program=${COMP_WORDS[0]} word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} command=plan
    local values='' lead='' files='' i
    for ((i = 1; i < COMP_CWORD; i++)); do
        case ${COMP_WORDS[i]} in
        -*) [ "$i" = 1 ] && break ;;
        *) [ "$i" = 1 ] && command=${COMP_WORDS[i]}; break ;;
        esac
    done
    COMPREPLY=()
    case $before in
    --*) values=$(_shardopt_values "$command" "$before") ;;
    esac
    case $word in
    -*) [ -n "$values" ] || values=$(_shardopt_options "$command") ;;
    *)
        if [ -z "$values" ] && [ "$COMP_CWORD" = 1 ]; then
            values=$_shardopt_commands
        elif [ -z "$values" ]; then
            values=$(_shardopt_arguments "$command") files=1
        fi
        ;;
    esac
    case $values in
    @models) values=$(_shardopt_names "$program" models) files=1 ;;
    @chips) values=$(_shardopt_names "$program" chips) ;;
    @files) values='' files=1 ;;
    esac
    case $word in # sweeps take lists
    *,*) lead=${word%,*}, word=${word##*,} ;;
    esac
    mapfile -t COMPREPLY < <(compgen -P "$lead" -W "$values" -- "$word"; [ -z "$files" ] || compgen -f -- "$word")
}
complete -o filenames -F _shardopt shardopt
