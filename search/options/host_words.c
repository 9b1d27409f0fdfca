/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "search/options/host_words.h"

#include "base/number.h"
#include "base/util.h"
#include "mesh/host_link.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Half a node is no machine: the nearest that are. */
static bool check_whole_nodes(const Words *words) {
    double nodes = 1;
    const char *text = given(words, OPTION_NODES);
    Error unread = {0}; /* what is no number at all is the reader's to say */
    if (!text || !number_real(text, "", 0, 1e9, &nodes, &unread) || nodes == floor(nodes)) return true;
    char nearest[48] = "1";
    if (nodes > 1) snprintf(nearest, sizeof nearest, "%.0f or %.0f", floor(nodes), ceil(nodes));
    return words_wrong(words, OPTION_NODES, "%.40s is not a whole number of nodes; nearest: %s", text, nearest);
}

/* The next number of hosts from `nodes` on, down or up, that have `chips` in equal parts of at most `most`; 0: none is
 * near. */
static int64_t hosts_near(int64_t nodes, int64_t chips, int64_t most, int step) {
    enum { NEAR = 4096 };
    for (int i = 0; i < NEAR && nodes > 0 && nodes <= chips; i++, nodes += step)
        if (chips % nodes == 0 && chips / nodes <= most) return nodes;
    return 0;
}

/* So many GPUs are no whole number on each of so many hosts, or too many: the nearest numbers of either that are. */
static bool no_such_hosts(const Words *words, int64_t nodes, int64_t chips, int64_t most) {
    int64_t fewer = hosts_near(min_whole(nodes, chips), chips, most, -1), more = hosts_near(nodes, chips, most, 1),
            below = min_whole(chips, most * nodes) / nodes * nodes;
    char hosts[64] = "", counts[64], why[64] = "are no whole number on each";
    if (fewer > 0) snprintf(hosts, sizeof hosts, "%lld", (long long)fewer);
    if (more > 0)
        snprintf(hosts + strlen(hosts), sizeof hosts - strlen(hosts), "%s%lld", fewer > 0 ? " or " : "",
                 (long long)more);
    snprintf(counts, sizeof counts, "%lld", (long long)(below > 0 ? below : nodes));
    if (below > 0 && below / nodes < most)
        snprintf(counts, sizeof counts, "%lld or %lld", (long long)below, (long long)(below + nodes));
    if (chips % nodes == 0) snprintf(why, sizeof why, "are more than %lld on each", (long long)most);
    return words_wrong(words, OPTION_NODES, "%lld chips %s of %lld hosts; nearest: %s%s%s--chips %s", (long long)chips,
                       why, (long long)nodes, hosts[0] ? "--nodes " : "", hosts, hosts[0] ? ", or " : "", counts);
}

bool hosts_from_words(const Words *words, int64_t each, Chip *chip) {
    int64_t nodes = 0, chips = 0, typed = each;
    if (!check_whole_nodes(words) || !words_whole(words, OPTION_GPUS_PER_NODE, 1, MACHINE_CHIPS_MAX, &typed))
        return false;
    if (!chip_has_domains(chip)) {
        chip->usual_host_chips = each; /* a VM's */
        return !given(words, OPTION_GPUS_PER_NODE) ||
               words_wrong(words, OPTION_GPUS_PER_NODE, "%s comes in slices, not nodes; leave it out", chip->name);
    }
    if (!words_whole(words, OPTION_NODES, 1, MACHINE_CHIPS_MAX, &nodes) ||
        !words_whole(words, OPTION_CHIPS, 1, MACHINE_CHIPS_MAX, &chips))
        return false;
    if (each > 0 && typed != each)
        return words_wrong(words, OPTION_GPUS_PER_NODE, "%lld contradicts --chip %.40s, whose hosts have %lld",
                           (long long)typed, given(words, OPTION_CHIP), (long long)each);
    if (nodes > 0 && chips > 0) {
        if (typed > 0 && (chips % nodes != 0 || chips / nodes != typed))
            return words_wrong(words, OPTION_CHIPS, "%lld are not %lld hosts of %lld; leave it out", (long long)chips,
                               (long long)nodes, (long long)typed);
        int64_t most = max_whole(chip->domain_chips, chip->chips_per_host);
        if (chips % nodes != 0 || chips / nodes > most) return no_such_hosts(words, nodes, chips, most);
        typed = chips / nodes;
    }
    bool racks = chip->domain_chips > chip->chips_per_host;
    if (typed == 0 || (racks ? typed == chip->domain_chips : typed == chip->chips_per_host && (nodes || chips)))
        return true;
    if (typed > chip->chips_per_host)
        return words_wrong(words,
                           given(words, OPTION_GPUS_PER_NODE) ? OPTION_GPUS_PER_NODE
                           : each > 0                         ? OPTION_CHIP
                                                              : OPTION_NODES,
                           "%lld GPUs of a host, and hosts of %s have at most %lld; nearest: --gpus-per-node %lld",
                           (long long)typed, chip->name, (long long)chip->chips_per_host,
                           (long long)chip->chips_per_host);
    host_set_chips(chip, typed);
    return true;
}

bool host_memory_from_words(const Words *words, const Machine *machine, Chip *chip) {
    const char *text = given(words, OPTION_HOST_MEMORY);
    double bytes = 0;
    size_t length = text ? strlen(text) : 0;
    if (!text) return true;
    bool unit =
        length > 1 && toupper((unsigned char)text[length - 1]) == 'B' && isalpha((unsigned char)text[length - 2]);
    const char *number = arena_format(words->arena, "%.*s", (int)(length - unit), text); /* 600GB */
    if (!number) return error_memory(words->error);
    if (!number_real(number, words_where(words, OPTION_HOST_MEMORY), 1e9, 1e14, &bytes, words->error)) return false;
    if (!(chip->pcie_bytes_per_second.value > 0))
        return words_wrong(
            words, OPTION_HOST_MEMORY,
            "the catalog does not know the link from %s to its host, so that no plan uses it; leave it out",
            chip->title);
    int64_t chips = machine->mesh.chips, host = chips <= machine_host_most(chip) ? chips : chip->chips_per_host;
    chip->host_bytes = (Figure){.value = bytes / (double)host, .verified = true};
    snprintf(chip->host_bytes.source, sizeof chip->host_bytes.source, CHIP_HOST_MEMORY_TYPED "%.60s", text);
    return true;
}
