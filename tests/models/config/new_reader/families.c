/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Emu, a family of configs that nobody ever published: llama's keys, and a plain MLP whose width is said in heads. The
 * linker takes this list, and leaves the archive's where it is. */
#include "models/config/family.h"

const char *const FAMILY_TEXTS[] = {
    "{\n"
    "  \"emu\": {\n"
    "    \"class\": \"EmuForCausalLM\",\n"
    "    \"required\": [\"num_hidden_layers\", \"hidden_size\", \"num_attention_heads\", \"vocab_size\", "
    "\"mlp_heads\"],\n"
    "    \"defaults\": {\"max_position_embeddings\": 4096, \"tie_word_embeddings\": false},\n"
    "    \"layers\": \"num_hidden_layers\", \"d_model\": \"hidden_size\", \"vocab\": \"vocab_size\",\n"
    "    \"max_seq\": \"max_position_embeddings\", \"tied\": \"tie_word_embeddings\",\n"
    "    \"heads\": \"num_attention_heads\", \"gated\": false, \"d_ff\": \"mlp_heads * d_model / heads\"\n"
    "  }\n"
    "}\n",
    NULL};
