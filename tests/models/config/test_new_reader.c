/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A new family of configs is a file: new_reader/ has one that nobody ever published, and nothing else knows of it. */
#include "models/config/model_json.h"

#include <criterion/criterion.h>
#include <string.h>

#define SIZES "\"num_hidden_layers\":4,\"hidden_size\":64,\"num_attention_heads\":8,\"vocab_size\":100"

static bool read(const char *text, Model *model, Error *error) {
    cJSON *json = cJSON_Parse(text);
    cr_assert(json, "%s", text);
    bool ok = model_from_json(json, "emu.json", false, model, error);
    cJSON_Delete(json);
    return ok;
}

/* 64 wide in 8 heads: heads of 8, and 24 of them make an MLP of 192. */
Test(new_reader, is_read_by_type_and_by_class) {
    static const char *const TEXTS[] = {"{\"model_type\":\"emu\",\"mlp_heads\":24," SIZES "}",
                                        "{\"architectures\":[\"EmuForCausalLM\"],\"mlp_heads\":24," SIZES "}"};
    for (int i = 0; i < 2; i++) {
        static Model model;
        Error error = {0};
        cr_assert(read(TEXTS[i], &model, &error), "%s: %s", error.where, error.text);
        cr_expect_str_eq(model.model_type, "emu");
        cr_expect_eq(model.layers, 4);
        cr_expect_eq(model.max_seq, 4096);
        cr_expect_eq(model.kinds[0].d_ff, 192);
    }
}

Test(new_reader, slips_are_said) {
    static Model model;
    Error error = {0};
    cr_expect_not(read("{\"model_type\":\"emu\"," SIZES "}", &model, &error));
    cr_expect(strstr(error.text, "mlp_heads"), "%s", error.text);
    cr_expect_not(read("{\"model_type\":\"emus\"," SIZES "}", &model, &error));
    cr_expect(strstr(error.text, "but like emu"), "%s", error.text);
}
