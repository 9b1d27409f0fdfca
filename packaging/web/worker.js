// SPDX-License-Identifier: GPL-3.0-or-later
// One question to the program, in a worker of the page or in node: `shardopt` is what emscripten made of it. Each question
// has a fresh instance and a fresh file system, as a process has.
'use strict';

// What a program writes character by character.
function sink() {
    let bytes = new Uint8Array(1 << 16), used = 0;
    return {
        put(byte) {
            if (byte === null) return;
            if (used === bytes.length) {
                const more = new Uint8Array(2 * used);
                more.set(bytes);
                bytes = more;
            }
            bytes[used++] = byte;
        },
        taken: () => bytes.slice(0, used),
    };
}

// files: what pack.py packed, by name; module: its shardopt.wasm, compiled; words: the command line; input: files of the user, by name,
// in the folder that the program starts in. Resolves to {code, out, err, files}: out and err as bytes.
async function answer(shardopt, files, module, words, input = {}) {
    const out = sink(), err = sink();
    const program = await shardopt({
        noInitialRun: true,
        thisProgram: '/bin/shardopt',
        instantiateWasm(imports, done) {
            WebAssembly.instantiate(module, imports).then(instance => done(instance, module));
            return {};
        },
        preRun: [({ FS }) => FS.init(() => null, out.put, err.put)],
    });
    const { FS } = program;
    for (const [name, bytes] of files) {
        if (!name.startsWith('/')) continue;
        FS.mkdirTree(name.slice(0, name.lastIndexOf('/')));
        FS.writeFile(name, bytes, { canOwn: true });
    }
    FS.mkdirTree('/work');
    FS.chdir('/work');
    for (const name in input) FS.writeFile(name, input[name]);
    let code;
    try {
        code = program.callMain(words);
    } catch (error) { // memory, or the stack, is out
        new TextEncoder().encode(`shardopt: ${error.message ?? error}\n`).forEach(byte => err.put(byte));
        code = 70;
    }
    return { code, out: out.taken(), err: err.taken() };
}

if (typeof WorkerGlobalScope !== 'undefined') {
    let files, module;
    self.onmessage = async ({ data }) => {
        if (data.files) ({ files, module } = data);
        else self.postMessage({ id: data.id, ...await answer(shardopt, files, module, data.words, data.input) });
    };
}
