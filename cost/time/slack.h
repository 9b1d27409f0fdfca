/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/time/slack.h: the constants of the proof, each with its argument. docs/search.md, "The constants of the proof",
 * says the same in context. Everything that bounds, cuts or solves includes this header and writes no such number. */
#pragma once

/* Multiplies every bound that adds in another order than step_seconds(), and the minuend of every difference. In
 * doubles n operations on terms that are not negative lose at most a share n 2^-53 of the result. 2^-40 covers
 * n = 8192; a step has a few hundred operations. The two subtractions inside a step (what weight gradients fill of the
 * bubble, what ring attention hides) amplify an error about threefold and stay far below it. */
static const double SLACK = 1 - 0x1p-40;

/* Multiplies a threshold that is compared with a bound before that bound is multiplied by SLACK. */
static const double SLACK_UPWARD = 1 + 0x1p-40;

/* Multiplies the threshold of every cut. A cut has to be strict, so that plans that tie with the k-th best are
 * evaluated and the total order decides; the scale from a step to the ranked time adds two roundings of 2^-53. */
static const double CUT = 1 + 1e-12;

/* The share of the step to which a layout is solved. A bound this close to a layout counts as met, and a layout whose
 * bound is lower than that is open. This is a limit of the claim: "optimal" means that no plan is faster by more than
 * this share. It also is the least difference that decides without solving a layout. */
static const double LAYOUT_TOLERANCE = 1e-9;

/* Multiplies the best step of the search over whole counts of layers: counts that would gain less are not pursued. The
 * share is below LAYOUT_TOLERANCE, so the claim covers what is left. */
static const double COUNTS_PROVEN = 1 - 1e-10;

/* The share by which one linear form may exceed another and still count as covered by it. The forms have at most a few
 * dozen coefficients, so this is rounding, and it is far below LAYOUT_TOLERANCE. */
static const double FORM_TOLERANCE = 1e-13;

/* The share to which two products of messages and bytes count as equal: eight roundings of 2^-53. The batch then adds
 * both phases of a row as one, which SLACK covers. */
static const double RATIO_TOLERANCE = 0x1p-50;
