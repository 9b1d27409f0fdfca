/* SPDX-License-Identifier: GPL-3.0-or-later */
/* cost/profile/doubt.h: how far a price may be off because the figures that it rests on are not known better.
 *
 * Each figure of a profile has a deviation: of the fit where runs moved it, else of its prior. Two prices are off
 * together as far as they lean on the same figures. Alone, figures move the logarithm of a price by their effects;
 * which of several prices is the least is drawn, since what one figure does hides behind what others do. */
#pragma once

#include "cost/profile/profile_set.h"

typedef struct {
    const ProfileFigure *figure;
    /* The figure of the set that gives the value, only to be compared: two profiles that take it from the same place
     * are wrong together. */
    const SetFigure *from;
    double deviation; /* standard deviation of the logarithm, > 0 */
    bool measured;    /* runs move it: it is not only a prior */
} FigureDoubt;

/* The figures of a chip under a stack that are in doubt. */
typedef struct ProfileDoubts {
    Profile composed; /* as profile_compose() makes it, before precision and scale */
    int count;
    FigureDoubt of[SET_FIGURES_MAX];
} ProfileDoubts;

void profile_doubts(const ProfileSet *set, const SetEntry *chip, const SetEntry *stack, ProfileDoubts *out);

/* The price of something under a composed profile; false: it has none. */
typedef bool DoubtPrice(const void *context, const Profile *composed, double *seconds);

/* What one deviation of a figure changes the logarithm of a price by: half of the way between one up and one down. */
typedef struct {
    const FigureDoubt *of;
    double effect;
} DoubtEffect;

/* The effects of all figures that change a price, within each figure's range. Returns their number; -1 means that
 * there is no price. */
int doubt_effects(const ProfileDoubts *doubts, DoubtPrice *price, const void *context,
                  DoubtEffect out[SET_FIGURES_MAX]);

/* A price among others. */
typedef struct {
    const ProfileDoubts *doubts;
    DoubtPrice *price;
    const void *context;
    double factor;      /* what is compared is the price times this */
    double own_error;   /* standard deviation of its logarithm that nothing shares */
    double group_error; /* and of what all prices with the same group share */
    const char *group;
} DoubtedPrice;

enum { DOUBT_PRICES_MAX = 16 };
/* Writes how probable it is that each of n prices (1 to DOUBT_PRICES_MAX) is the least: they add up to 1. Every
 * figure is drawn 2^9 times, from a sequence that is always the same so that an answer can be printed again, and
 * everything priced anew, on so many threads (0: OpenMP's own choice); its own error is 2% (one deviation, at 50%).
 * A price that there is not under what was drawn is the last. False means that memory is out. */
bool doubt_chances(const DoubtedPrice *prices, int n, int threads, double *chances);
