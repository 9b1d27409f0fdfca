/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/serving/cache.h: the cache of keys and values: how many bytes a token and a sequence take, and what of that one
 * chip holds. Source: "How to Scale Your Model", part 7; MLA: DeepSeek-V2 (arXiv 2405.04434), section 2.1. */
#pragma once

#include "models/model.h"

#include <stdint.h>

/* Of a number of an indexer's key, whatever the cache's type: fp8, and a scale of float32 for each 128, 132 bytes a key
 * (DeepSeek-V3.2 in vLLM, SGLang and TensorRT-LLM). */
#define INDEX_KEY_BYTES (1 + 4.0 / 128)

/* Bytes that one token adds in one layer of the kind, over all chips and without any copy: 2 x heads x width, or the
 * latent and its rotated part. */
double cache_bytes_per_layer(const LayerKind *kind, double bytes_per_number);

/* The part of it that attention reads: without the keys of an indexer. */
double attended_bytes_per_layer(const LayerKind *kind, double bytes_per_number);

/* Tokens that a layer keeps of a sequence: all, or its window; of joined entries (LayerKind.compress) as many tokens as
 * all entries and the window alongside take the room of. */
double cache_span(const LayerKind *kind, double bytes_per_number, double tokens);

/* Bytes that a sequence takes in one layer whatever its length, over all chips: states of a mixer in float32, the last
 * tokens of its convolutions in 16 bits. `chip`: the part of one chip of `tensor`. */
double state_bytes_per_layer(const Model *model, const LayerKind *kind, int64_t tensor);

/* Bytes of one sequence of `tokens` in all layers; pages are filled up where page > 1. */
double cache_bytes_per_sequence(const Model *model, double bytes_per_number, double tokens, double page);

/* The share of a layer's cache of one sequence that each chip of a tensor group holds: heads divide it up to their
 * number and are copied beyond it (MLA has one head for this), and `further` ways by batch or sequence divide what the
 * copies hold. */
double cache_share_of_chip(const LayerKind *kind, int64_t tensor, int64_t further);

/* How many chips of the tensor group hold the same heads (1 where there are none): the ways that batch or sequence can
 * still divide. */
int64_t cache_copies(const LayerKind *kind, int64_t tensor);
