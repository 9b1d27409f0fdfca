// SPDX-License-Identifier: GPL-3.0-or-later
// The page around the program: controls, the command line that they make, and the program's own report as the answer.
'use strict';
(async () => {
const $ = id => document.getElementById(id);
const text = bytes => new TextDecoder().decode(bytes);

// ---- the question: what has a control ----

const TABS = { plan: 'Training', tune: 'Fine-tuning', serve: 'Serving', rl: 'RL' };
const COMMAND = { plan: ['plan'], tune: ['plan'], serve: ['inference'], rl: ['rl'] };
const UNITS = { nodes: 'nodes', chips: 'chips', slice: 'slice', pods: 'pods' };

// A number as the program reads it, and as it is written on a slider.
const SUFFIX = { '': 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12, Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40 };
function numberOf(words) {
    const parts = /^([0-9.]+)([kMGT]i?|Ki)?$/.exec(words.trim().replaceAll(',', ''));
    return parts ? Number(parts[1]) * SUFFIX[parts[2] ?? ''] : NaN;
}
const binary = power => power >= 20 ? `${2 ** (power - 20)}Mi` : power >= 10 ? `${2 ** (power - 10)}Ki` : `${2 ** power}`;
const plain = power => `${2 ** power}`;

// usual: where the slider stands while the program's default is taken. slider: powers of two, and how they are written.
const FIELDS = [
    { key: 'batch', tabs: 'plan', label: 'Batch, tokens', option: '--batch', usual: '4Mi', slider: [14, 27, binary] },
    { key: 'seq', tabs: 'plan', label: 'Sequence, tokens', option: '--seq', usual: '8192', slider: [9, 20, plain] },
    { key: 'method', tabs: 'tune', label: 'Method', values: { '': 'all parameters', lora: 'LoRA', qlora: 'QLoRA' } },
    { key: 'rank', tabs: 'tune', label: 'Rank', usual: '16', slider: [2, 9, plain] },
    { key: 'task', tabs: 'tune', label: 'Task', option: '--task', values: { sft: 'sft', dpo: 'dpo' } },
    { key: 'sequences', tabs: 'tune', label: 'Batch, sequences', option: '--sequences', usual: '16', slider: [0, 12, plain] },
    { key: 'longest', tabs: 'tune', label: 'Longest sample, tokens', option: '--max-length', usual: '2048', slider: [8, 18, plain] },
    { key: 'data', tabs: 'tune', label: 'Samples of the data', option: '--samples', usual: '10k' },
    { key: 'epochs', tabs: 'tune', label: 'Epochs', option: '--epochs', usual: '1' },
    { key: 'prompt', tabs: 'serve', label: 'Prompt, tokens', option: '--prompt', usual: '1024', slider: [5, 17, plain] },
    { key: 'answer', tabs: 'serve', label: 'Answer, tokens', option: '--answer', usual: '256', slider: [5, 14, plain] },
    { key: 'flight', tabs: 'serve', label: 'Requests in flight', option: '--concurrency', usual: 'any' },
    { key: 'rate', tabs: 'serve', label: 'Requests a second', option: '--rate', usual: 'any' },
    { key: 'ttft', tabs: 'serve', label: 'First token within', option: '--ttft', usual: '2s' },
    { key: 'tpot', tabs: 'serve', label: 'Each token within', option: '--tpot', usual: '50ms' },
    { key: 'prompts', tabs: 'rl', label: 'Prompts of a step', option: '--prompts', usual: '64', slider: [3, 12, plain] },
    { key: 'answers', tabs: 'rl', label: 'Answers to each', option: '--samples', usual: '16', slider: [1, 7, plain] },
    { key: 'length', tabs: 'rl', label: 'Mean answer, tokens', option: '--answer', usual: '1024', slider: [7, 16, plain] },
    { key: 'algorithm', tabs: 'rl', label: 'Algorithm', option: '--algorithm',
        values: { '': 'grpo', dapo: 'dapo', ppo: 'ppo', rloo: 'rloo', 'reinforce++': 'reinforce++' } },
    { key: 'for', tabs: 'plan', label: 'Launcher', option: '--for',
        values: { '': 'usual', maxtext: 'maxtext', megatron: 'megatron', torchtitan: 'torchtitan', deepspeed: 'deepspeed',
            jax: 'jax', any: 'any' } },
    { key: 'precision', tabs: 'plan tune serve rl', label: 'Precision', option: '--precision',
        values: { '': 'usual', bf16: 'bf16', fp8: 'fp8', mxfp8: 'mxfp8', nvfp4: 'nvfp4', int8: 'int8' } },
    { key: 'more', tabs: 'plan tune serve rl', label: 'More options', usual: '--top 3 ...' },
    { key: 'whatif', tabs: 'plan tune serve rl', label: 'What if', usual: 'chip=b200' },
];
const MACHINE = { nodes: [0, 11, plain], chips: [0, 14, plain], pods: [0, 4, plain] };
const START = { tab: 'plan', model: '70b', chip: 'h100', unit: 'nodes', size: '64', task: 'sft' };

let state = { ...START };
let config = null; // {name, bytes}: a config.json of the user

// As a shell splits words, and joins them.
function split(line) {
    const words = [];
    for (const [, quoted, double, bare] of line.matchAll(/'([^']*)'|"([^"]*)"|([^\s'"]+)/g)) words.push(quoted ?? double ?? bare);
    return words;
}
const quote = word => /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
const line = words => ['shardopt', ...words].map(quote).join(' ');

// whatIf: with what would be another question, whose answer is a line of text.
function question(whatIf = false) {
    const words = [...COMMAND[state.tab], '--model', config ? config.name : state.model];
    if (state.chip) words.push('--chip', state.chip);
    if (state.size) words.push(`--${state.unit}`, state.size);
    if (state.tab === 'tune' && state.method) words.push(`--${state.method}`, state.rank || '16');
    for (const field of FIELDS)
        if (field.option && field.tabs.includes(state.tab) && state[field.key]) words.push(field.option, state[field.key]);
    return words.concat(split(state.more ?? ''), whatIf && state.whatif ? ['--what-if', state.whatif] : []);
}

// ---- the link: all of the question, a dropped file too ----

const through = async (bytes, stream) => new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
const toBase64 = bytes => btoa(Array.from(bytes, byte => String.fromCharCode(byte)).join('')).replaceAll('+', '-').replaceAll('/', '_');
const fromBase64 = words => Uint8Array.from(atob(words.replaceAll('-', '+').replaceAll('_', '/')), letter => letter.charCodeAt(0));

async function link() {
    const parts = new URLSearchParams(Object.entries(state).filter(([key, value]) => value && value !== (key === 'task' ? 'sft' : '')));
    if (config) {
        parts.set('file', config.name);
        parts.set('config', toBase64(await through(config.bytes, new CompressionStream('deflate-raw'))));
    }
    return `#${parts}`;
}

async function follow(hash) {
    const parts = new URLSearchParams(hash.slice(1));
    state = { ...START };
    config = null;
    if (![...parts].length) return;
    for (const key of ['model', 'chip', 'size']) state[key] = '';
    for (const key of ['tab', 'model', 'chip', 'unit', 'size', ...FIELDS.map(field => field.key)])
        if (parts.has(key)) state[key] = parts.get(key);
    if (!(state.tab in TABS)) state.tab = START.tab;
    if (!(state.unit in UNITS)) state.unit = START.unit;
    for (const { key, values } of FIELDS) if (values && !(state[key] in values)) delete state[key];
    state.task ??= START.task;
    try {
        if (parts.get('config'))
            config = { name: fileName(parts.get('file') ?? ''), bytes: await through(fromBase64(parts.get('config')), new DecompressionStream('deflate-raw')) };
    } catch {
        say('The link is damaged: its config.json cannot be read.');
    }
}

// ---- controls ----

function make(tag, attributes = {}, ...content) {
    const element = document.createElement(tag);
    for (const name in attributes) element[name in element ? name : 'className'] = attributes[name];
    element.append(...content);
    return element;
}

// A slider that follows the text next to it, and writes it.
function slider(key, label, usual, [from, to, name]) {
    const range = make('input', { type: 'range', min: from, max: to, step: 1, id: `in-${key}-slider` });
    range.setAttribute('aria-label', `${label}, slider`);
    range.place = () => {
        const at = Math.round(Math.log2(numberOf(state[key] || usual)));
        range.value = Number.isFinite(at) ? at : from;
        range.setAttribute('aria-valuetext', state[key] || usual);
    };
    range.oninput = () => {
        state[key] = name(Number(range.value));
        $(`in-${key}`).value = state[key];
        range.setAttribute('aria-valuetext', state[key]);
        changed();
    };
    range.place();
    return range;
}

function control(key, label, { values, usual = '', list, then = changed }) {
    const input = values ? make('select', { id: `in-${key}` }) : make('input', { id: `in-${key}`, type: 'text', placeholder: usual, spellcheck: false });
    for (const value in values) input.append(make('option', { value }, values[value]));
    if (list) input.setAttribute('list', list);
    input.value = state[key] ?? '';
    input.setAttribute('aria-label', label);
    input.oninput = () => {
        state[key] = input.value.trim();
        $(`in-${key}-slider`)?.place();
        then();
    };
    return input;
}

function field(key, label, options) {
    const row = make('div', { class: 'field' }, make('label', { htmlFor: `in-${key}` }, label), control(key, label, options));
    if (options.slider) row.append(slider(key, label, options.usual, options.slider));
    return row;
}

function modelField() {
    const row = field('model', 'Model', { usual: 'name', list: 'models' });
    const file = make('input', { type: 'file', accept: '.json,application/json', hidden: true, id: 'file' });
    file.onchange = () => file.files[0] && take(file.files[0]);
    const open = make('button', { type: 'button', id: 'open' }, config ? 'Back to a name' : 'Open config.json');
    open.onclick = () => config ? (config = null, build(), changed()) : file.click();
    row.append(make('span', { class: 'file', id: 'from' }, config ? `from ${config.name}` : ''), open, file);
    row.querySelector('#in-model').disabled = !!config;
    return row;
}

function machineField() {
    const usual = { nodes: '1', chips: '8', slice: '4x4', pods: '1' };
    const unit = control('unit', 'Unit of the machine', { values: UNITS });
    const size = control('size', 'Size of the machine', { usual: usual[state.unit] });
    unit.addEventListener('input', () => { state.size = usual[state.unit]; build('in-unit'); changed(); });
    const row = make('div', { class: 'field' }, make('label', { htmlFor: 'in-size' }, 'Machine'), make('div', { class: 'pair' }, size, unit));
    if (MACHINE[state.unit]) row.append(slider('size', 'Size of the machine', '1', MACHINE[state.unit]));
    return row;
}

// The options of the question that a slider can move: {name, label, now, range}.
const movable = () => [...MACHINE[state.unit] ? [{ name: state.unit, label: UNITS[state.unit], now: state.size || '1', range: MACHINE[state.unit] }] : [],
    ...FIELDS.filter(({ tabs, slider, option }) => slider && option && tabs.split(' ').includes(state.tab)).map(({ key, label, option, usual, slider }) => ({ name: option.slice(2), label, now: state[key] || usual, range: slider }))];
const whatIfs = () => new Map((state.whatif ?? '').split(';').filter(part => part.includes('=')).map(part => part.split('=').map(words => words.trim())));

// Another value of one option, and what it would change, while the answer stays.
function whatIfField(of) {
    const row = field(of.key, of.label, { ...of, then: whatIfChanged }), range = make('input', { type: 'range', step: 1, id: 'in-whatif-slider' });
    const which = make('select', { id: 'in-whatif-of' }, ...movable().map(({ name, label }) => make('option', { value: name }, label)));
    const chosen = () => movable().find(({ name }) => name === which.value);
    which.setAttribute('aria-label', 'What if: the option that the slider moves');
    which.value = movable().find(({ name }) => whatIfs().has(name))?.name ?? which.value;
    which.oninput = range.place = () => {
        const { name, label, now, range: [from, to] } = chosen(), other = whatIfs().get(name);
        Object.assign(range, { min: from, max: to, value: Math.round(Math.log2(numberOf(other ?? now))) });
        range.setAttribute('aria-label', `What if: ${label}`);
        range.setAttribute('aria-valuetext', other ?? `${now}, as asked`);
    };
    range.oninput = () => {
        const { name, now, range: [, , written] } = chosen(), parts = whatIfs(), value = Number(range.value);
        if (value === Math.round(Math.log2(numberOf(now)))) parts.delete(name);
        else parts.set(name, written(value));
        $('in-whatif').value = state.whatif = [...parts].map(part => part.join('=')).join('; ');
        range.place();
        whatIfChanged();
    };
    range.place();
    row.append(which, range);
    return row;
}

// Fields of the tab, the first time and whenever there are others; the focus stays on `focus`.
function build(focus) {
    const chip = field('chip', 'Chip', { usual: 'name', list: 'chips' });
    chip.querySelector('input').addEventListener('change', fitUnit);
    $('fields').replaceChildren(modelField(), chip, machineField(),
        ...FIELDS.filter(one => one.tabs.split(' ').includes(state.tab)).map(one => one.key === 'whatif' ? whatIfField(one) : field(one.key, one.label, one)));
    $('fields').setAttribute('aria-labelledby', `tab-${state.tab}`);
    for (const tab of $('tabs').children) {
        tab.setAttribute('aria-selected', tab.id === `tab-${state.tab}`);
        tab.tabIndex = tab.id === `tab-${state.tab}` ? 0 : -1;
    }
    if (focus) $(focus)?.focus();
}

function select(tab, focus) {
    state.tab = tab;
    build(focus);
    changed(0);
}

function makeTabs() {
    const names = Object.keys(TABS);
    for (const name of names) {
        const tab = make('button', { type: 'button', id: `tab-${name}` }, TABS[name]);
        tab.setAttribute('role', 'tab');
        tab.setAttribute('aria-controls', 'fields');
        tab.onclick = () => select(name, tab.id);
        tab.onkeydown = event => {
            const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
            if (!step) return;
            const next = names[(names.indexOf(name) + step + names.length) % names.length];
            select(next, `tab-${next}`);
        };
        $('tabs').append(tab);
    }
}

// TPUs come in chips, GPUs in nodes: the same number of chips, in the unit of the chip.
const hosts = new Map(); // by the name of a chip: {kind, chips_per_host}
function fitUnit() {
    if (hosts.size && !hosts.has(state.chip) && /\d/.test(state.chip)) { // "8xH200", "p5.48xlarge": a whole machine
        state.size = '';
        build('in-chip');
        return changed();
    }
    const topology = hosts.get(state.chip), torus = topology?.kind.startsWith('torus'), count = numberOf(state.size);
    if (!topology || state.unit === 'chips' || torus === (state.unit !== 'nodes') || !Number.isFinite(count)) return;
    const chips = state.unit === 'nodes' ? count * 8 : 512;
    state.unit = torus ? 'chips' : 'nodes';
    state.size = `${torus ? chips : Math.max(1, chips / topology.chips_per_host)}`;
    build('in-chip');
    changed();
}

const fileName = name => name.replace(/[^\w.-]/g, '_').replace(/^[.-]+/, '').slice(-64).replace(/(\.json)?$/, '.json');
async function take(file) {
    const MOST = 4 << 20;
    if (file.size > MOST) return say(`${file.name} is larger than a config.json: at most ${MOST} bytes are read.`);
    config = { name: fileName(file.name), bytes: new Uint8Array(await file.arrayBuffer()) };
    build('open');
    changed();
}

// ---- asking ----

let files, module, source;

// A worker with the program. A question that is not wanted any more ends with its worker.
class Asker {
    #worker = null;
    #wanted = null;
    ask(words, input) {
        if (this.#wanted) this.stop();
        if (!this.#worker) {
            this.#worker = new Worker(source);
            this.#worker.onmessage = ({ data }) => { const wanted = this.#wanted; this.#wanted = null; wanted?.(data); };
            this.#worker.onerror = event => { event.preventDefault(); const wanted = this.#wanted; this.stop(); this.#worker = null; wanted?.({ code: 70, out: new Uint8Array(),
                err: new TextEncoder().encode(`shardopt: the browser ended it: ${event.message}\n`) }); };
            this.#worker.postMessage({ files, module });
        }
        return new Promise(done => { this.#wanted = done; this.#worker.postMessage({ words, input }); });
    }
    stop() { // an idle worker stays
        if (!this.#wanted) return;
        this.#worker.terminate();
        this.#worker = this.#wanted = null;
    }
}
const first = new Asker(), whole = new Asker(), side = new Asker(), other = new Asker();
const input = () => config ? { [config.name]: config.bytes } : {};
const say = words => { $('status').textContent = words; };

let asked = 0, timer, whatIfTimer, page = null;

function changed(wait = 150) {
    clearTimeout(timer);
    timer = setTimeout(ask, wait);
    $('in-whatif-slider').place();
    $('command').textContent = line(question(true));
}

// The answer stays; while it is made, ask() comes to what would be.
function whatIfChanged() {
    clearTimeout(whatIfTimer);
    $('command').textContent = line(question(true));
    whatIfTimer = setTimeout(() => document.documentElement.dataset.state === 'done' && askWhatIf(), 150);
}

async function askWhatIf() {
    const id = asked;
    history.replaceState(null, '', await link());
    other.stop();
    if (!state.whatif) $('what-if').hidden = true;
    if (!state.whatif) return;
    $('what-if').setAttribute('aria-busy', 'true');
    const words = question(true), { out, err } = await other.ask(words[0] === 'plan' && !words.includes('--sensitivity') ? [...words, '--sensitivity', 'none'] : words, input());
    if (id !== asked) return;
    $('what-if').textContent = /^What if [^]*/m.exec(text(out))?.[0].replace(/\n +/g, ' ') ?? text(err);
    $('what-if').setAttribute('aria-busy', 'false');
    $('what-if').hidden = false;
}

// The report of a training plan is there twice: at once without its searches around the plan, then with them.
async function ask() {
    const id = ++asked, words = question(), began = performance.now();
    history.replaceState(null, '', await link());
    document.documentElement.dataset.state = 'busy';
    $('shown').setAttribute('aria-busy', 'true');
    for (const name of ['copy-script', 'save-page']) $(name).disabled = true;
    $('script').hidden = $('wrong').hidden = $('what-if').hidden = true;
    page = null;
    $('stop').hidden = false;
    $('command').textContent = line(question(true));
    const slow = setTimeout(() => id === asked && say('Searching …'), 400);
    const html = [...words, '--format', 'html'];
    let seconds = 0;
    const seen = (answer, last) => {
        if (id !== asked || document.documentElement.dataset.state === 'done') return;
        clearTimeout(slow);
        seconds ||= (performance.now() - began) / 1000;
        show(answer, last, seconds);
    };
    first.stop();
    whole.stop();
    other.stop();
    if (words[0] === 'plan' && !words.includes('--sensitivity')) {
        const soon = first.ask([...html, '--sensitivity', 'none'], input()).then(answer => seen(answer, false));
        if (navigator.hardwareConcurrency < 4) await soon; // both at once would each take twice as long
        if (id !== asked || document.documentElement.dataset.state === 'done') return;
    }
    seen(await whole.ask(html, input()), true);
    if (id === asked && state.whatif) await askWhatIf();
}

function show(answer, last, seconds) {
    const wrong = text(answer.err).trim();
    const report = answer.out.length > 0 ? new DOMParser().parseFromString(text(answer.out), 'text/html') : null;
    const main = report?.querySelector('main'), document_ = report?.querySelector('#document');
    $('wrong').textContent = wrong;
    $('wrong').hidden = wrong === '';
    if (main) {
        const header = report.querySelector('header');
        $('shown').replaceChildren(header, main);
        main.removeAttribute('id');
        if (document_) view.show(JSON.parse(document_.textContent), { main, header, now: true });
        else document.title = report.title;
    } else {
        $('shown').replaceChildren();
    }
    $('shown').setAttribute('aria-busy', 'false');
    say(`${main ? summary() : 'No answer.'} ${seconds.toFixed(1)} s${main && !last ? '; what would change it follows' : ''}.`);
    if (!last && main) return;
    document.documentElement.dataset.state = 'done';
    first.stop();
    $('stop').hidden = true;
    page = main ? answer.out : null;
    $('save-page').disabled = !page;
    $('copy-script').disabled = !emit();
}

// The answer in a sentence, for the status line, which screen readers read out.
function summary() {
    const cards = [...$('shown').querySelectorAll('.cards div')].slice(0, 4);
    const words = cards.map(card => `${card.querySelector('dt').textContent} ${card.querySelector('dd').firstChild.textContent.trim()}`);
    return `${$('shown').querySelector('h1').textContent}${words.length ? `: ${words.join(', ')}` : ''};`;
}

// The command that writes the launch script, as the answer names it.
function emit() {
    const found = /shardopt ((?:emit|rl) [^\n]*)/g;
    for (const element of $('shown').querySelectorAll('code, pre'))
        for (const [, words] of element.textContent.replace(/\n +(?=-)/g, ' ').matchAll(found))
            if (/^emit|--emit/.test(words)) return split(words.replace(/ -o \S+$/, ''));
    return null;
}

// ---- what the buttons do ----

async function copy(words, what) {
    try {
        await navigator.clipboard.writeText(words);
    } catch {
        const area = make('textarea', { value: words });
        document.body.append(area);
        area.select();
        document.execCommand('copy');
        area.remove();
    }
    say(`${what} is copied.`);
}

function save(bytes, name, type) {
    const url = URL.createObjectURL(new Blob([bytes], { type }));
    make('a', { href: url, download: name }).click();
    setTimeout(() => URL.revokeObjectURL(url), 10000);
}

async function launchScript() {
    const answer = await side.ask(emit(), input());
    if (answer.code !== 0) return say(text(answer.err).trim());
    $('script').hidden = false;
    $('script').querySelector('pre').textContent = text(answer.out);
    await copy(text(answer.out), 'The launch script');
}

async function saveJson() {
    say('Searching …');
    const answer = await side.ask([...question(), '--format', 'json'], input());
    if (answer.out.length === 0) return say(text(answer.err).trim());
    save(answer.out, 'report.json', 'application/json');
    say('The JSON is saved.');
}

function listen() {
    $('copy-command').onclick = () => copy($('command').textContent, 'The command');
    $('copy-link').onclick = () => copy(location.href, 'The link');
    $('copy-script').onclick = launchScript;
    $('save-page').onclick = () => save(page, 'page.html', 'text/html');
    $('save-json').onclick = saveJson;
    $('stop').onclick = () => {
        asked++;
        first.stop();
        whole.stop();
        other.stop();
        $('stop').hidden = true;
        document.documentElement.dataset.state = 'done';
        say('Stopped.');
    };
    $('notices').ontoggle = () => { $('notices').querySelector('pre').textContent = text(files.get('notices')); };
    $('question').onsubmit = event => event.preventDefault();
    // A link within the report must not take the place of the question in the address.
    $('shown').onclick = event => {
        const anchor = event.target.closest('a[href^="#"]');
        if (!anchor) return;
        event.preventDefault();
        const target = document.getElementById(anchor.getAttribute('href').slice(1));
        target?.scrollIntoView();
        target?.focus();
    };
    window.onhashchange = async () => { await follow(location.hash); build(); changed(0); };
    document.ondragover = event => { event.preventDefault(); document.body.classList.add('drop'); };
    document.ondragleave = () => document.body.classList.remove('drop');
    document.ondrop = event => {
        event.preventDefault();
        document.body.classList.remove('drop');
        if (event.dataTransfer.files[0]) take(event.dataTransfer.files[0]);
    };
}

// Names for completion: of the program's own catalogs.
async function names() {
    const option = (value, label) => make('option', { value, label });
    const models = JSON.parse(text((await side.ask(['models', '--format', 'json'])).out));
    for (const { name, aliases, parameters } of models)
        for (const value of [name, ...aliases]) $('models').append(option(value, `${name}, ${(parameters / 1e9).toFixed(1)} G`));
    const chips = JSON.parse(text((await side.ask(['chips', '--format', 'json'])).out));
    for (const { name, aliases, title, topology, plannable } of chips.filter(one => one.plannable))
        for (const value of [name, ...aliases, name.replace(/^tpu-/, '')]) {
            if (!hosts.has(value)) $('chips').append(option(value, title));
            hosts.set(value, topology);
        }
}

async function start() {
    makeTabs();
    listen();
    await follow(location.hash);
    build();
    $('command').textContent = line(question(true));
    if (typeof DecompressionStream === 'undefined') return say('This page needs a browser of 2023 or later.');
    const script = `${$('program').textContent}\n${$('worker').textContent}`;
    source = URL.createObjectURL(new Blob([script], { type: 'text/javascript' }));
    ({ files, module } = await unpack());
    ask();
    names();
}

// What pack.py packed: a line of JSON with names and sizes, then the bytes of each.
async function unpack() {
    const all = await through(Uint8Array.from(atob($('pack').textContent), letter => letter.charCodeAt(0)), new DecompressionStream('gzip'));
    let at = all.indexOf(10) + 1;
    const found = new Map();
    for (const [name, size] of JSON.parse(text(all.subarray(0, at)))) {
        found.set(name, all.slice(at, at + size));
        at += size;
    }
    return { files: found, module: await WebAssembly.compile(found.get('shardopt.wasm')) };
}

await start();
})();
