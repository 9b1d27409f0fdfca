/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/text/page_script.h"

#include "base/sha256.h"

#include <string.h>

/* Cells are read as text and never as markup. A number sorts by its value in one unit of its kind ("910 ms" before
 * "1.2 s", "$716 k" before "$1.9 M"), a column of words by its letters, numbers within them by value; cells with
 * nothing to sort by are last either way. Written without the two characters that markup would have to escape. */
static const char SCRIPT[] =
    "'use strict';\n"
    "(() => {\n"
    "const units = {ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1, minutes: 60, hours: 3600, days: 86400, years: 31557600,\n"
    "  '%': 1e-2, k: 1e3, K: 1e3, M: 1e6, G: 1e9, B: 1, T: 1e12, P: 1e15};\n"
    "const scale = unit => {\n"
    "  const word = unit.split('/')[0];\n"
    "  if (word === '') return 1;\n"
    "  if (word in units) return units[word];\n"
    "  const prefix = /^[kMGTP](?=[A-Za-z]{1,})/.exec(word);\n"
    "  return prefix ? units[prefix[0]] : 1;\n"
    "};\n"
    "const number = text => {\n"
    "  if (text === 'none') return 0;\n"
    "  const found = /^[$~]?([+-]?[\\d,]*\\.?\\d+(?:e[+-]?\\d+)?)\\s?(\\S*)/.exec(text);\n"
    "  return found ? Number(found[1].replaceAll(',', '')) * scale(found[2]) : NaN;\n"
    "};\n"
    "const cell = (row, column) => row.cells[column].textContent.trim();\n"
    "const sort = (table, column, down) => {\n"
    "  const body = table.tBodies[0], rows = [...body.rows];\n"
    "  const some = rows.filter(row => cell(row, column) !== '');\n"
    "  const told = some.filter(row => !isNaN(number(cell(row, column))));\n"
    "  const numbers = 2 * told.length > some.length, full = numbers ? told : some;\n"
    "  const order = numbers ? (a, b) => number(cell(a, column)) - number(cell(b, column))\n"
    "    : (a, b) => cell(a, column).localeCompare(cell(b, column), 'en', {numeric: true});\n"
    "  full.sort((a, b) => down ? order(b, a) : order(a, b));\n"
    "  body.append(...full, ...rows.filter(row => !full.includes(row)));\n"
    "};\n"
    "const sortable = table => [...table.tHead.rows[0].cells].forEach((head, column, all) => {\n"
    "  if (head.textContent === '') return;\n"
    "  const button = document.createElement('button');\n"
    "  button.type = 'button';\n"
    "  button.append(...head.childNodes);\n"
    "  head.append(button);\n"
    "  button.addEventListener('click', () => {\n"
    "    const down = head.getAttribute('aria-sort') === 'ascending';\n"
    "    all.forEach(other => other.removeAttribute('aria-sort'));\n"
    "    head.setAttribute('aria-sort', down ? 'descending' : 'ascending');\n"
    "    sort(table, column, down);\n"
    "  });\n"
    "});\n"
    "const filterable = table => {\n"
    "  const label = document.createElement('label'), field = document.createElement('input');\n"
    "  const count = document.createElement('output'), rows = [...table.tBodies[0].rows];\n"
    "  label.className = 'filter';\n"
    "  field.type = 'search';\n"
    "  label.append('Rows with ', field, ' ', count);\n"
    "  table.parentElement.before(label);\n"
    "  field.addEventListener('input', () => {\n"
    "    const words = field.value.toLowerCase().split(/\\s+/);\n"
    "    let shown = 0;\n"
    "    rows.forEach(row => {\n"
    "      const text = row.textContent.toLowerCase();\n"
    "      row.hidden = !words.every(word => text.includes(word));\n"
    "      shown += row.hidden ? 0 : 1;\n"
    "    });\n"
    "    count.value = field.value === '' ? '' : `${shown} of ${rows.length}`;\n"
    "  });\n"
    "};\n"
    "document.querySelectorAll('main table').forEach(table => {\n"
    "  const rows = table.tHead ? table.tBodies[0].rows.length : 0;\n"
    "  if (rows > 2) sortable(table);\n"
    "  if (rows > 11) filterable(table);\n"
    "});\n"
    "})();\n";

void page_script_write(FILE *out) {
    fputs("<script>", out);
    fputs(SCRIPT, out);
    fputs("</script>\n", out);
}

static unsigned nibble(char digit) { return (unsigned)(digit <= '9' ? digit - '0' : digit - 'a' + 10); }

/* The digest comes as hexadecimal digits: three of them are two of Base64's. 64 digits are 21 threes and one more,
 * which makes two digits, the second of filling alone. */
const char *page_script_hash(char text[PAGE_SCRIPT_HASH_SIZE]) {
    static const char DIGITS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    char hex[SHA256_HEX_SIZE + 2];
    Sha256 hash = sha256_start();
    sha256_add(&hash, SCRIPT, strlen(SCRIPT));
    sha256_hex(&hash, hex);
    hex[SHA256_HEX_SIZE - 1] = hex[SHA256_HEX_SIZE] = '0';
    char *to = text + sprintf(text, "sha256-");
    for (int i = 0; i < SHA256_HEX_SIZE - 1; i += 3) {
        unsigned bits = nibble(hex[i]) << 8 | nibble(hex[i + 1]) << 4 | nibble(hex[i + 2]);
        *to++ = DIGITS[bits >> 6];
        *to++ = DIGITS[bits & 63];
    }
    to[-1] = '='; /* only filling was in it */
    *to = '\0';
    return text;
}
