/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Emu, a family of configs that nobody ever published: llama's keys, and a plain MLP whose width is said in heads. */
#include "models/config/reader.h"

static bool read_emu(const Config *config, Model *model) {
    LayerKind layer = {0};
    int64_t wide;
    if (!hf_decoder(config, (HfDefaults){.max_seq = 4096}, model, &layer) ||
        !hf_dimension(config, "mlp_heads", 0, &wide))
        return false;
    layer.d_ff = wide * layer.head_dim;
    hf_kinds(model, &layer, NULL);
    return true;
}

const ConfigReader EMU_READER = {{{"emu", "EmuForCausalLM", read_emu}}};
