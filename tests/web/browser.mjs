// SPDX-License-Identifier: GPL-3.0-or-later
// shardopt.html in headless Chromium, opened from disk: what it answers has the bytes of the native program, a link opens
// as it was, so does --what-if, bad input is answered in the program's one line, nothing is asked for; keyboard, names for screen readers
// (axe), dark and light, a phone's width.
//
//   node browser.mjs shardopt.html PROGRAM SOURCE [FOLDER]     screenshots go to FOLDER where one is given; those of
//   docs/install.md: for i in light dark; do cwebp -q 80 FOLDER/$i.png -o docs/pictures/page-$i.webp; done
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { drive, inspect, inspectNarrow, inspectPictures, inspectTables } from '../browser/drive.mjs';

const [page, program, source, keep] = process.argv.slice(2).map(name => path.resolve(name));
const require = createRequire(path.join(process.env.BROWSER_MODULES || path.join(source, 'tests/browser'), 'x.js'));
const chrome = process.env.CHROMIUM || ['/usr/bin/chromium', '/usr/bin/google-chrome'].find(file => fs.existsSync(file));
let playwright, axe;
try {
    playwright = require('playwright-core');
    axe = require('axe-core').source;
} catch {
    console.log('SKIPPED: playwright-core or axe-core is not there; npm ci in tests/browser brings them');
    process.exit(77);
}
if (!chrome) {
    console.log('SKIPPED: no Chromium; apt-get install chromium');
    process.exit(77);
}

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'shardopt-page-'));
const config = path.join(source, 'tests/data/models/configs/llama3.1-8b.json');
fs.copyFileSync(config, path.join(folder, 'config.json'));
let failures = 0;
function expect(right, what) {
    if (right) return;
    failures++;
    console.log(`FAIL: ${what}`);
}

const SLOW = 5; // seconds of a first answer, on a machine that does other work too; one alone takes less than one

// Questions as links.
const QUESTIONS = [
    'tab=plan&model=8b&chip=v5e&unit=slice&size=4x4&batch=256Ki',
    'tab=plan&model=8b&chip=h100&unit=nodes&size=2&seq=4096',
    'tab=plan&model=70b&chip=h100&unit=nodes&size=64',
    'tab=plan&model=405b&chip=v5p&unit=pods&size=8',
    'tab=plan&model=mixtral-8x7b&chip=h100&unit=nodes&size=4&batch=1Mi&seq=4096',
    'tab=tune&model=8b&chip=h100&unit=nodes&size=1&method=lora&rank=16',
    'tab=tune&model=70b&chip=h100&unit=nodes&size=1&method=qlora',
    'tab=serve&model=70b&chip=h100&unit=nodes&size=1',
    'tab=serve&model=8b&chip=v5e&unit=slice&size=2x4&precision=int8&more=--kv-dtype+int8',
    'tab=rl&model=8b&chip=h100&unit=nodes&size=2',
];

const browser = await playwright.chromium.launch({ executablePath: chrome, args: ['--no-sandbox'] });
const url = pathToFileURL(path.resolve(page)).href;

async function open(hash, options = {}) {
    const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, permissions: [], ...options });
    const tab = await context.newPage();
    tab.on('console', message => expect(false, `${hash}: the console says ${message.text()}`));
    tab.on('pageerror', error => expect(false, `${hash}: ${error.message}`));
    tab.on('dialog', dialog => { expect(false, `${hash}: a dialog`); dialog.dismiss(); });
    tab.on('request', request => expect(/^(blob:|data:)/.test(request.url()) || request.url().split('#')[0] === url,
        `${hash}: ${request.url()} is asked for`));
    await tab.goto(`${url}#${hash}`);
    await done(tab);
    return tab;
}
const done = tab => tab.waitForFunction(() => document.documentElement.dataset.state === 'done', null, { timeout: 60000 });

// Asks in an open page, and gives the seconds until the first answer is shown and until all of it is.
async function ask(tab, hash) {
    const seconds = await tab.evaluate(async hash => {
        const root = document.documentElement, answer = document.getElementById('shown'), began = performance.now();
        root.dataset.state = 'busy';
        answer.setAttribute('aria-busy', 'true');
        location.hash = hash;
        const when = right => new Promise(then => {
            const look = () => right() ? then((performance.now() - began) / 1000) : setTimeout(look, 10);
            look();
        });
        return [await when(() => answer.getAttribute('aria-busy') === 'false'), await when(() => root.dataset.state === 'done')];
    }, hash);
    return seconds;
}

async function saved(tab, button) {
    const [download] = await Promise.all([tab.waitForEvent('download', { timeout: 60000 }), tab.click(button)]);
    return fs.readFileSync(await download.path());
}

// The command that the page shows, to the native program.
function natively(command, format) {
    const words = `${command.replace(/^shardopt/, `'${program}'`)} ${format}`;
    return spawnSync('sh', ['-c', words], { cwd: folder, env: { ...process.env, SHARDOPT_DATA: source, OMP_NUM_THREADS: '1' }, maxBuffer: 1 << 28 });
}

async function tenQuestions() {
    const tab = await open('tab=plan&model=8b&chip=h100&unit=nodes&size=1'), table = [];
    for (const hash of QUESTIONS) {
        if (process.env.VERBOSE) console.log(hash);
        const [first, all] = await ask(tab, `#${hash}`);
        const command = await tab.textContent('#command'), native = natively(command, '--format html');
        if (process.env.VERBOSE) console.log(hash, first, all);
        const here = await saved(tab, '#save-page');
        expect(here.equals(native.stdout), `${command}: the page has other bytes than the native program`);
        const script = await tab.isEnabled('#copy-script');
        expect(script, `${command}: no launch script`);
        expect(first <= SLOW, `${command}: the first answer takes ${first} s`);
        table.push(`${first.toFixed(2)} s, all ${all.toFixed(2)} s: ${command}`);
    }
    const json = await saved(tab, '#save-json');
    expect(json.equals(natively(await tab.textContent('#command'), '--format json').stdout), 'the JSON has other bytes');
    await ask(tab, `#${QUESTIONS[2]}`);
    await tab.click('#copy-script');
    await tab.waitForSelector('#script:not([hidden])', { timeout: 60000 });
    const script = await tab.textContent('#script pre');
    expect(script === natively('shardopt emit megatron --model 70b --chip h100 --nodes 64', '').stdout.toString(), 'the launch script has other bytes');
    console.log(`ten questions, first answer and all of it:\n  ${table.join('\n  ')}`);
    await tab.context().close();
}

// Another question by --what-if, and a chip that is a whole machine.
async function whatIfs() {
    const tab = await open('tab=plan&model=8b&chip=h100&unit=nodes&size=2');
    expect((await tab.textContent('body')).indexOf('In words') < 0, 'sentences are asked for');
    for (const hash of ['tab=plan&model=8b&chip=h100&unit=nodes&size=2&whatif=chip%3Db200%3B+nodes%3D4', 'tab=serve&model=8b&chip=h100&unit=nodes&size=1&whatif=chip%3Dh200',
        'tab=tune&model=8b&chip=h100&unit=nodes&size=1&method=lora&rank=16&whatif=nodes%3D2', 'tab=rl&model=8b&chip=h100&unit=nodes&size=2&whatif=chip%3Dh200']) {
        await ask(tab, `#${hash}`);
        await tab.waitForSelector('#what-if:not([hidden])', { timeout: 60000 });
        const native = natively(await tab.textContent('#command'), '').stdout.toString(), at = native.indexOf('\nWhat if ');
        expect(at > 0 && await tab.textContent('#what-if') === native.slice(at + 1).replace(/\n +/g, ' '), `${hash}: another what-if: ${native.slice(at)}`);
    }
    await ask(tab, '#tab=plan&model=8b&chip=h100&unit=nodes&size=2');
    await whatIfSlider(tab);
    await tab.waitForFunction(() => document.getElementById('chips').children.length > 0);
    await tab.evaluate(() => { document.documentElement.dataset.state = 'busy'; });
    await tab.fill('#in-chip', 'v5litepod-16');
    await tab.press('#in-chip', 'Tab');
    await tab.waitForFunction(() => document.querySelector('#shown h1')?.textContent.includes('4x4 of TPU v5e'), null, { timeout: 60000 });
    expect(await tab.textContent('#command') === 'shardopt plan --model 8b --chip v5litepod-16', 'a whole machine has a size');
    await tab.context().close();
}

// The slider moves one option; the answer stays, and what would be is a line above it, and in the link.
async function whatIfSlider(tab) {
    const said = text => tab.waitForFunction(text => document.getElementById('what-if').textContent.startsWith(text) && !document.getElementById('what-if').hidden, text, { timeout: 60000 });
    const slider = tab.locator('#in-whatif-slider'), answer = await tab.evaluateHandle(() => document.querySelector('#shown main'));
    expect(await tab.textContent('#in-whatif-of option:checked') === 'nodes' && await slider.getAttribute('aria-valuetext') === '2, as asked', 'the slider of what-if does not start at what is asked');
    await slider.focus();
    await tab.keyboard.press('ArrowRight');
    await said('What if nodes=4: 32 chips');
    await tab.selectOption('#in-whatif-of', 'seq');
    await slider.focus();
    await tab.keyboard.press('ArrowLeft');
    await said('What if nodes=4: 32 chips');
    await tab.waitForFunction(() => /\nWhat if seq=4096: /.test(document.getElementById('what-if').textContent), null, { timeout: 60000 });
    const command = await tab.textContent('#command'), native = natively(command, '').stdout.toString();
    expect(command === "shardopt plan --model 8b --chip h100 --nodes 2 --what-if 'nodes=4; seq=4096'", `the slider makes ${command}`);
    expect(await tab.textContent('#what-if') === native.slice(native.indexOf('\nWhat if ') + 1).replace(/\n +/g, ' '), 'the slider gives another what-if');
    expect(await answer.evaluate(main => main.isConnected), 'the slider of what-if asks for the answer again');
    expect((await tab.evaluate(() => location.hash)).includes('whatif=nodes%3D4'), 'the link lacks what if');
    await slider.focus();
    await tab.keyboard.press('ArrowRight');
    await tab.selectOption('#in-whatif-of', 'nodes');
    await slider.focus();
    await tab.keyboard.press('ArrowLeft');
    await tab.waitForFunction(() => document.getElementById('what-if').hidden);
    expect(await tab.inputValue('#in-whatif') === '', 'a slider that is back leaves words');
}

// Reports are the pages' own: the same checks, and the same hover, sort, zoom and keys.
async function reports() {
    for (const [hash, name] of [[QUESTIONS[0], 'training'], [QUESTIONS[4], 'mixture'], [QUESTIONS[7], 'serving'], [QUESTIONS[9], 'rl'], [QUESTIONS[5], 'fine-tuning']]) {
        const tab = await open(hash);
        const drawn = await tab.locator('#shown figure.picture').count();
        expect(drawn >= 4, `${name}: ${drawn} pictures`);
        for (const check of [inspect, inspectPictures, inspectTables]) for (const flaw of await tab.evaluate(check)) expect(false, `${name}: ${flaw}`);
        await drive(tab, name, expect);
        await tab.setViewportSize({ width: 390, height: 800 });
        await tab.waitForTimeout(200);
        for (const flaw of await tab.evaluate(inspectNarrow)) expect(false, `${name}, narrow: ${flaw}`);
        await tab.context().close();
    }
}

async function wrongInput() {
    const tab = await open(QUESTIONS[0]);
    const WRONG = ['tab=plan&model=nobody&chip=h100&unit=nodes&size=2', 'tab=plan&model=8b&chip=h100&unit=nodes&size=many',
        `tab=plan&model=${encodeURIComponent('<img src=x onerror=alert(1)>')}&chip=h100&unit=nodes&size=2`, 'tab=serve&model=8b&chip=v5e&unit=slice&size=0x0',
        'tab=plan&model=8b&chip=h100&unit=nodes&size=2&batch=-1', 'tab=rl&model=8b&chip=h100&unit=nodes&size=2&more=--nothing'];
    for (const hash of WRONG) {
        await ask(tab, `#${hash}`);
        const native = natively(await tab.textContent('#command'), '--format html');
        expect(await tab.textContent('#wrong') === native.stderr.toString().trim(), `${hash}: other words than the native program's`);
        expect(native.status === 2, `${hash}: natively ${native.status}`);
        expect(await tab.locator('#shown main').count() === 0, `${hash}: an answer is left`);
    }
    for (const hash of ['', '#', '#tab=x&unit=y&method=z', '#%%%', '#config=!!&file=..%2Fx', '#tab=plan&model=8b&more=%27%22'])
        await ask(tab, `${hash}&n=1`);
    await ask(tab, `#${QUESTIONS[0]}`);
    expect(await tab.locator('#shown main').count() === 1, 'no answer after wrong ones');
    await tab.context().close();
}

async function files() {
    const tab = await open('tab=plan&model=8b&chip=h100&unit=nodes&size=2');
    const reset = () => tab.evaluate(() => { document.documentElement.dataset.state = 'busy'; });
    await reset();
    await tab.setInputFiles('#file', config);
    await tab.waitForFunction(() => document.getElementById('from').textContent.includes('llama'));
    await done(tab);
    const command = await tab.textContent('#command'), bytes = await saved(tab, '#save-page');
    fs.copyFileSync(config, path.join(folder, 'llama3.1-8b.json'));
    expect(bytes.equals(natively(command, '--format html').stdout), `${command}: a dropped file is answered otherwise`);
    const again = await open((await tab.evaluate(() => location.hash)).slice(1));
    expect(await again.textContent('#command') === command, 'the link of a dropped file gives another command');
    expect((await saved(again, '#save-page')).equals(bytes), 'the link of a dropped file gives another page');
    await again.context().close();
    await reset();
    await tab.evaluate(text => {
        const carried = new DataTransfer();
        carried.items.add(new File([text], 'config.json'));
        for (const kind of ['dragover', 'drop']) document.body.dispatchEvent(new DragEvent(kind, { dataTransfer: carried, bubbles: true, cancelable: true }));
    }, fs.readFileSync(config, 'utf8'));
    await tab.waitForFunction(() => document.getElementById('from').textContent.endsWith(' config.json'));
    await done(tab);
    expect((await saved(tab, '#save-page')).equals(natively(await tab.textContent('#command'), '--format html').stdout), 'a file that is dropped is answered otherwise');
    await tab.context().close();
}

// What a copy button leaves on the clipboard, pasted into a field.
async function pasted(tab, button) {
    await tab.evaluate(() => document.body.append(Object.assign(document.createElement('textarea'), { id: 'pasted' })));
    await tab.click(button);
    await tab.waitForFunction(() => document.getElementById('status').textContent.endsWith('is copied.'), null, { timeout: 60000 });
    await tab.focus('#pasted');
    await tab.keyboard.press('Control+V');
    const text = await tab.inputValue('#pasted');
    await tab.evaluate(() => { document.getElementById('pasted').remove(); document.getElementById('status').textContent = ''; });
    return text;
}

async function controls() {
    const tab = await open(QUESTIONS[0]);
    const pictures = () => tab.evaluate(() => Object.fromEntries(['step', 'memory', 'mesh', 'timeline'].map(id => [id, document.getElementById(id).outerHTML])));
    const value = await tab.locator('#in-batch-slider').inputValue();
    await tab.focus('#in-batch-slider');
    await tab.evaluate(() => { document.documentElement.dataset.state = 'busy'; });
    await tab.keyboard.press('ArrowRight');
    await done(tab);
    expect(await tab.locator('#in-batch-slider').inputValue() === `${Number(value) + 1}`, 'the slider does not move');
    expect((await tab.textContent('#command')).endsWith('--batch 512Ki'), 'the slider does not set the batch');
    expect((await tab.textContent('#shown')).includes('512'), 'the answer does not follow the slider');
    const before = await pictures();
    expect((await tab.textContent('#shown')).includes("In maxtext's words: ici_fsdp"), "no launcher's words");
    await ask(tab, '#tab=plan&model=8b&chip=v5e&unit=slice&size=4x8&batch=512Ki&seq=2048');
    const after = await pictures();
    for (const id in after) expect(/<svg|<canvas|class="bars/.test(before[id]) && before[id] !== after[id], `${id} is not drawn again`);
    expect(await pasted(tab, '#copy-command') === await tab.textContent('#command'), 'another command is copied');
    expect(await pasted(tab, '#copy-link') === await tab.evaluate(() => location.href), 'another link is copied');
    const script = await pasted(tab, '#copy-script');
    expect(script.includes('ici_fsdp') && script === await tab.textContent('#script pre'), `another launch script is copied: ${script.slice(0, 200)}`);
    await tab.focus('#tab-plan');
    await tab.keyboard.press('ArrowRight');
    expect(await tab.evaluate(() => document.activeElement.id) === 'tab-tune', 'arrows do not go from tab to tab');
    const seen = new Set();
    for (let i = 0; i < 80; i++) {
        await tab.keyboard.press('Tab');
        seen.add(await tab.evaluate(() => document.activeElement.id));
    }
    for (const id of ['in-model', 'open', 'in-chip', 'in-size', 'in-unit', 'in-method', 'in-rank-slider', 'in-more', 'in-whatif', 'in-whatif-of', 'in-whatif-slider', 'copy-command', 'save-json'])
        expect(seen.has(id), `the keyboard does not reach ${id}`);
    const link = await tab.evaluate(() => location.href.split('#')[1]), other = await open(link);
    expect(await other.textContent('#command') === await tab.textContent('#command'), 'a link opens as another question');
    await other.context().close();
    await tab.context().close();
}

// What a screen reader is given: Chromium's own tree of names, roles and states.
async function heard(tab) {
    const session = await tab.context().newCDPSession(tab);
    const { nodes } = await session.send('Accessibility.getFullAXTree');
    const { result } = await session.send('Runtime.evaluate', { expression: "document.getElementById('status')" });
    const { node: { backendNodeId } } = await session.send('DOM.describeNode', { objectId: result.objectId });
    await session.detach();
    const by = new Map(nodes.map(node => [node.nodeId, node])), value = one => one?.value ?? '';
    return nodes.filter(node => !node.ignored).map(node => ({
        role: value(node.role), name: value(node.name).trim(), text: value(node.value), words: value(node.description), answer: node.backendDOMNodeId === backendNodeId,
        is: Object.fromEntries((node.properties ?? []).map(({ name, value }) => [name, value.value])),
        within(role) { for (let at = by.get(node.parentId); at; at = by.get(at.parentId)) if (value(at.role) === role) return true; return false; },
    }));
}

// What it lacks, one line each. Every control, picture, table, region and tab has a name, and what changes is announced.
async function lacks(tab) {
    const LACKS = [], nodes = await heard(tab), need = (right, what) => right || LACKS.push(what);
    const of = (role, name) => nodes.filter(node => node.role === role && (!name || name.test(node.name)));
    const CONTROLS = ['textbox', 'combobox', 'button', 'tab', 'slider', 'searchbox', 'link', 'image', 'table', 'region', 'form', 'heading', 'DisclosureTriangle'];
    for (const node of nodes) if (CONTROLS.includes(node.role)) need(node.name !== '', `a ${node.role} has no name`);
    for (const words of [/^Model$/, /^Chip$/, /^Size of the machine$/, /^Unit of the machine$/]) need(nodes.some(node => words.test(node.name) && /^(textbox|combobox)$/.test(node.role)), `no control ${words}`);
    for (const words of [/^The command$/, /^Picture: /, /^Table: /]) need(of('region', words).length > 0, `no region ${words}`);
    for (const slider of await tab.locator('[type=range]').all()) // the tree has its position alone
        need(/\d/.test(await slider.getAttribute('aria-valuetext') ?? ''), `${await slider.getAttribute('aria-label')} says no value`);
    const tabs = of('tab');
    need(tabs.length === 4 && tabs.filter(tab => tab.is.selected).length === 1, 'tabs do not say which is selected');
    need(of('tabpanel', new RegExp(`^${tabs.find(tab => tab.is.selected)?.name}$`)).length === 1, 'the panel is not named by its tab');
    const status = nodes.find(node => node.role === 'status' && node.answer); // pictures have lines of their own
    need(status?.is.live === 'polite', 'the answer is not announced');
    need(of('heading').length > 3 && of('heading').some(node => node.is.level === 1), 'the answer has no headings');
    for (const picture of of('image')) need(picture.name.length > 4 && picture.words.length > 10, `picture "${picture.name}" is not described`);
    need(of('image').length >= 4, `${of('image').length} pictures`);
    need(of('table').length >= 1 && of('table').every(table => table.name), 'a table has no name');
    need(of('columnheader').length > 1 && of('rowheader').length > 1, 'tables have no heads');
    need(of('columnheader').every(head => head.name), 'a head of a table has no name');
    LACKS.push(...await tab.evaluate(inspectPictures));
    return LACKS;
}

async function reader() {
    const NAMES = [[QUESTIONS[0], /^Roles on x$/, 'Training'], [QUESTIONS[7], /^Which chips hold what: /, 'Serving'], [QUESTIONS[9], /^Which chips hold what: /, 'RL'], [QUESTIONS[5], /^Roles on /, 'Fine-tuning']];
    for (const [hash, picture, name] of NAMES) {
        const tab = await open(hash);
        for (const details of await tab.locator('#shown details').all()) await details.evaluate(element => { element.open = true; });
        for (const what of await lacks(tab)) expect(false, `a screen reader, ${name}: ${what}`);
        const nodes = await heard(tab);
        expect(nodes.some(node => node.role === 'tab' && node.name === name && node.is.selected), `a screen reader: ${name} is not the selected tab`);
        expect(nodes.some(node => node.role === 'image' && picture.test(node.name)), `a screen reader, ${name}: no picture ${picture}`);
        const before = await tab.textContent('#status');
        expect(/Step|Per token|Tokens/.test(before) && /\d/.test(before), `a screen reader, ${name}: the answer is not said: ${before}`);
        // A change is said once, in one place.
        await tab.evaluate(() => {
            globalThis.said = [];
            new MutationObserver(() => said.push(document.getElementById('status').textContent)).observe(document.getElementById('status'), { childList: true, characterData: true, subtree: true });
            document.documentElement.dataset.state = 'busy';
        });
        await tab.locator('[type=range]:not(#in-whatif-slider)').last().focus();
        await tab.keyboard.press('ArrowLeft');
        await done(tab);
        const said = await tab.evaluate(() => said);
        expect(said.length >= 1 && said.length <= 4 && said.at(-1) !== before, `a screen reader, ${name}: of a change it says ${JSON.stringify(said)}`);
        if (hash === QUESTIONS[0]) await planted(tab);
        await tab.context().close();
    }
    const wrong = await open('tab=plan&model=nobody&chip=h100&unit=nodes&size=2');
    expect((await heard(wrong)).some(node => node.role === 'alert'), 'a screen reader: what is wrong is no alert');
    await wrong.context().close();
}

// Each label, state and description is missed when it is taken away.
async function planted(tab) {
    const TAKEN = ['#in-model|aria-label|label[for=in-model]', '#in-unit|aria-label', '#in-batch-slider|aria-label', '#in-batch-slider|aria-valuetext', '#status|aria-live|', '#tabs [aria-selected=true]|aria-selected',
        '#fields|aria-labelledby', '#shown svg|aria-label', '#shown caption', '#shown [aria-description]|aria-description',
        '#shown details.data', '#shown .bars|tabindex', '#in-whatif-slider|aria-label', '#command|aria-label'];
    for (const what of TAKEN) {
        const was = await tab.evaluate(() => document.body.innerHTML);
        await tab.evaluate(what => {
            const [where, name, label] = what.split('|');
            for (const element of document.querySelectorAll(where)) name ? element.removeAttribute(name) : element.remove();
            if (label) document.querySelector(label).removeAttribute('for');
            if (where === '#status') document.querySelector(where).setAttribute('role', 'note');
            if (where.endsWith('svg')) for (const title of document.querySelectorAll('#shown svg > title, #shown svg > desc')) title.remove();
        }, what);
        expect((await lacks(tab)).length > 0, `a screen reader misses nothing without ${what}`);
        await tab.evaluate(was => { document.body.innerHTML = was; }, was);
    }
}

async function looks() {
    const WAYS = [['light', { colorScheme: 'light' }, QUESTIONS[2]], ['dark', { colorScheme: 'dark' }, QUESTIONS[7], '#timeline'],
        ['phone', { viewport: { width: 390, height: 844 }, colorScheme: 'light' }, QUESTIONS[0]], ['rl', { colorScheme: 'light' }, QUESTIONS[9], '#step'],
        ['rl-phone', { viewport: { width: 390, height: 844 }, colorScheme: 'dark' }, QUESTIONS[9], '#mesh'],
        ['serving-phone', { viewport: { width: 390, height: 844 }, colorScheme: 'light' }, QUESTIONS[7], '#mesh'],
        ['tune', { viewport: { width: 390, height: 844 }, colorScheme: 'dark' }, QUESTIONS[5]]];
    for (const [name, options, hash, shown] of WAYS) {
        const tab = await open(hash, options);
        const wide = await tab.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        expect(wide <= 0, `${name}: the page scrolls sideways by ${wide} pixels`);
        if (options.viewport) { // the answer stays in sight of the sliders
            await tab.locator('[type=range]').last().scrollIntoViewIfNeeded();
            expect(await tab.evaluate(() => Math.abs(document.getElementById('status').getBoundingClientRect().top) < 40), `${name}: the answer is out of sight`);
            await tab.evaluate(() => scrollTo(0, 0));
        }
        await tab.evaluate(axe);
        const found = await tab.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
        for (const one of found.violations) expect(false, `${name}: axe: ${one.id}: ${one.nodes[0].html.slice(0, 160)}`);
        if (shown) await tab.locator(shown).evaluate(section => section.scrollIntoView());
        if (keep) await tab.screenshot({ path: path.join(keep, `${name}.png`) });
        await tab.context().close();
    }
}

for (const part of [tenQuestions, whatIfs, wrongInput, files, controls, reader, reports, looks].filter(part => !process.env.PART || part.name === process.env.PART)) {
    try {
        await part();
    } catch (error) {
        expect(false, `${part.name}: ${error.message}`);
    }
}
await browser.close();
fs.rmSync(folder, { recursive: true });
console.log(failures ? `${failures} failed` : 'the page is as it should be');
process.exit(failures ? 1 : 0);
