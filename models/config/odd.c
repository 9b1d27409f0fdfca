/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a config says that no cost depends on, or that is legal and yet no model's: a slip that would be planned in
 * silence. Sizes are taken as they stand, and named. */
#include "models/config/reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The functions that transformers knows by name (activations.py, ACT2FN). */
static const char *const ACTIVATIONS[] = {
    "gelu",
    "gelu_10",
    "gelu_fast",
    "gelu_new",
    "gelu_python",
    "gelu_pytorch_tanh",
    "gelu_python_tanh",
    "gelu_accurate",
    "laplace",
    "leaky_relu",
    "linear",
    "mish",
    "prelu",
    "quick_gelu",
    "relu",
    "relu2",
    "relu6",
    "sigmoid",
    "silu",
    "situ", /* Kimi K3's own */
    "swish",
    "tanh",
    "xielu",
};
static const char *const ACTIVATION_KEYS[] = {"hidden_act", "hidden_activation", "activation_function"};
static const char *const EPSILON_KEYS[] = {"rms_norm_eps", "layer_norm_eps", "layer_norm_epsilon",
                                           "norm_eps",     "norm_epsilon",   "layernorm_epsilon"};
/* Below these there is no published language model: its tokens are bytes at least, and half a tile of a matrix unit. */
enum { WIDTH_LEAST = 64, VOCABULARY_LEAST = 256, HEAD_LEAST = 8 };

__attribute__((format(printf, 2, 3))) static void say(Model *model, const char *format, ...) {
    size_t used = strlen(model->odd);
    if (used > 0) used += (size_t)snprintf(model->odd + used, sizeof model->odd - used, ", ");
    if (used >= sizeof model->odd) return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(model->odd + used, sizeof model->odd - used, format, arguments);
    va_end(arguments);
}

static bool read_activation(const Config *config, const char *key, Model *model) {
    char word[64];
    bool known = false;
    if (!hf_text(config, key, ACTIVATIONS[0], word, sizeof word)) return false;
    for (size_t i = 0; i < COUNT_OF(ACTIVATIONS); i++) known = known || strcmp(word, ACTIVATIONS[i]) == 0;
    if (!known) say(model, "%s \"%.40s\" (not known; costs nothing here)", key, word);
    return true;
}

/* Rotary positions turn pairs of a head's channels. */
static void say_odd_heads(Model *model) {
    for (int i = 0; i < model->kind_count; i++) {
        const LayerKind *kind = &model->kinds[i];
        bool halves = model->positions == POSITIONS_ROTARY && kind->head_dim % 2 != 0;
        if (kind->heads == 0 || (!halves && kind->head_dim >= HEAD_LEAST)) continue;
        say(model, "heads of %lld channels%s", (long long)kind->head_dim,
            halves ? ", which rotary positions cannot pair" : "");
        return;
    }
}

bool hf_read_odd(const Config *config, Model *model) {
    double epsilon;
    for (size_t i = 0; i < COUNT_OF(EPSILON_KEYS); i++)
        if (!hf_real(config, EPSILON_KEYS[i], 0, 1, 0, &epsilon)) return false;
    for (size_t i = 0; i < COUNT_OF(ACTIVATION_KEYS); i++)
        if (!read_activation(config, ACTIVATION_KEYS[i], model)) return false;
    if (model->d_model < WIDTH_LEAST) say(model, "a width of %lld", (long long)model->d_model);
    if (model->vocab < VOCABULARY_LEAST) say(model, "a vocabulary of %lld", (long long)model->vocab);
    say_odd_heads(model);
    return true;
}
