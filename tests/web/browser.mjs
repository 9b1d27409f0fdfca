// SPDX-License-Identifier: GPL-3.0-or-later
// shardopt.html in headless Chromium, opened from disk: what it answers has the bytes of the native program, a link opens
// as it was, bad input is answered in the program's one line, nothing is asked for; keyboard, names for screen readers
// (axe), dark and light, a phone's width.
//
//   node browser.mjs shardopt.html PROGRAM SOURCE [FOLDER]     screenshots go to FOLDER where one is given
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

const [page, program, source, keep] = process.argv.slice(2);
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
    await tab.context().close();
}

async function controls() {
    const tab = await open(QUESTIONS[0]);
    const value = await tab.locator('#in-batch-slider').inputValue();
    await tab.focus('#in-batch-slider');
    await tab.evaluate(() => { document.documentElement.dataset.state = 'busy'; });
    await tab.keyboard.press('ArrowRight');
    await done(tab);
    expect(await tab.locator('#in-batch-slider').inputValue() === `${Number(value) + 1}`, 'the slider does not move');
    expect((await tab.textContent('#command')).endsWith('--batch 512Ki'), 'the slider does not set the batch');
    expect((await tab.textContent('#shown')).includes('512'), 'the answer does not follow the slider');
    await tab.focus('#tab-plan');
    await tab.keyboard.press('ArrowRight');
    expect(await tab.evaluate(() => document.activeElement.id) === 'tab-tune', 'arrows do not go from tab to tab');
    const seen = new Set();
    for (let i = 0; i < 60; i++) {
        await tab.keyboard.press('Tab');
        seen.add(await tab.evaluate(() => document.activeElement.id));
    }
    for (const id of ['in-model', 'open', 'in-chip', 'in-size', 'in-unit', 'in-method', 'in-rank-slider', 'in-more', 'copy-command', 'save-json'])
        expect(seen.has(id), `the keyboard does not reach ${id}`);
    const link = await tab.evaluate(() => location.href.split('#')[1]), other = await open(link);
    expect(await other.textContent('#command') === await tab.textContent('#command'), 'a link opens as another question');
    await other.context().close();
    await tab.context().close();
}

async function looks() {
    const WAYS = [['light', { colorScheme: 'light' }, QUESTIONS[2]], ['dark', { colorScheme: 'dark' }, QUESTIONS[7]],
        ['phone', { viewport: { width: 390, height: 844 }, colorScheme: 'light' }, QUESTIONS[0]], ['rl', { colorScheme: 'dark' }, QUESTIONS[9]],
        ['tune', { viewport: { width: 390, height: 844 }, colorScheme: 'dark' }, QUESTIONS[5]]];
    for (const [name, options, hash] of WAYS) {
        const tab = await open(hash, options);
        const wide = await tab.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
        expect(wide <= 0, `${name}: the page scrolls sideways by ${wide} pixels`);
        await tab.evaluate(axe);
        const found = await tab.evaluate(() => globalThis.axe.run(document, { resultTypes: ['violations'] }));
        for (const one of found.violations) expect(false, `${name}: axe: ${one.id}: ${one.nodes[0].html.slice(0, 160)}`);
        if (keep) await tab.screenshot({ path: path.join(keep, `${name}.png`) });
        await tab.context().close();
    }
}

for (const part of [tenQuestions, wrongInput, files, controls, looks]) {
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
