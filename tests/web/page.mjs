// SPDX-License-Identifier: GPL-3.0-or-later
// The program inside shardopt.html, in node: what the page's worker runs, without a browser.
import fs from 'node:fs';
import vm from 'node:vm';
import zlib from 'node:zlib';

// Returns ask(words, input): {code, out, err}, and the time that it took.
export async function open(path) {
    const page = fs.readFileSync(path, 'utf8');
    const part = id => {
        const from = page.indexOf('>', page.indexOf(`id="${id}"`)) + 1;
        return page.slice(from, page.indexOf('</script>', from));
    };
    const pack = zlib.gunzipSync(Buffer.from(part('pack'), 'base64'));
    let at = pack.indexOf(10) + 1;
    const files = new Map();
    for (const [name, size] of JSON.parse(pack.subarray(0, at))) {
        files.set(name, new Uint8Array(pack.subarray(at, at + size)));
        at += size;
    }
    const module = await WebAssembly.compile(files.get('shardopt.wasm'));
    // As the page's worker sees it: nothing of node.
    const context = vm.createContext({ WebAssembly, TextEncoder, TextDecoder, performance, console, setTimeout, URL,
        self: { location: { href: 'blob:' } }, importScripts() {}, Uint8Array, location: { href: 'blob:' } });
    vm.runInContext(`${part('program')}\n${part('worker')}\nthis.answer = answer; this.shardopt = shardopt;`, context);
    return async (words, input = {}) => {
        const began = performance.now();
        const { code, out, err } = await context.answer(context.shardopt, files, module, words, input);
        return { code, out: Buffer.from(out), err: Buffer.from(err).toString(), seconds: (performance.now() - began) / 1000 };
    };
}
