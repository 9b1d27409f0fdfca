// SPDX-License-Identifier: GPL-3.0-or-later
// The questions of questions.txt, to the program inside shardopt.html and to the native one: the same bytes, words of
// errors and exit codes.
//
//   node same.mjs shardopt.html PROGRAM SOURCE [WORDS]     only questions with these words
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { open } from './page.mjs';

const [page, program, source] = process.argv.slice(2, 5).map(name => path.resolve(name)), only = process.argv[5] ?? '';
const ask = await open(page);
const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'shardopt-same-'));
const config = fs.readFileSync(path.join(source, 'tests/data/models/configs/llama3.1-8b.json'));
fs.writeFileSync(path.join(folder, 'config.json'), config);

const split = line => [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, bare]) => quoted ?? bare);
const env = { ...process.env, OMP_NUM_THREADS: '1', SHARDOPT_DATA: source, COLUMNS: '' };
let wrong = 0, asked = 0, ours = 0, theirs = 0, slowest = 0;
for (const line of fs.readFileSync(path.join(path.dirname(fileURLToPath(import.meta.url)), 'questions.txt'), 'utf8').split('\n')) {
    if (!line || line.startsWith('#') || !line.includes(only)) continue;
    const words = split(line), began = performance.now();
    const native = spawnSync(program, words, { cwd: folder, env, maxBuffer: 1 << 28 });
    theirs += (performance.now() - began) / 1000;
    const here = await ask(words, { 'config.json': config });
    asked++;
    ours += here.seconds;
    slowest = Math.max(slowest, here.seconds);
    if (here.code === native.status && here.out.equals(native.stdout) && here.err === native.stderr.toString()) continue;
    wrong++;
    let at = 0;
    while (at < here.out.length && here.out[at] === native.stdout[at]) at++;
    const around = bytes => JSON.stringify(bytes.subarray(Math.max(0, at - 60), at + 40).toString());
    console.log(`FAIL: ${line}\n  exit ${here.code}, natively ${native.status}; byte ${at} of ${here.out.length} and ${native.stdout.length}:` +
        `\n  ${around(here.out)}\n  ${around(native.stdout)}\n  ${here.err}  ${native.stderr}`);
}
fs.rmSync(folder, { recursive: true });
console.log(`${asked} questions, ${wrong} with another answer; ${ours.toFixed(1)} s in node (the slowest ${slowest.toFixed(1)} s), ` +
    `${theirs.toFixed(1)} s natively with one thread`);
process.exit(wrong || asked === 0 ? 1 : 0);
