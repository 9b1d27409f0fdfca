// SPDX-License-Identifier: GPL-3.0-or-later
// Pages of shardopt in headless Chromium, light and dark: they render, every section has content, nothing is said on the
// console, nothing is asked for, axe finds no violation, names stay text, the keyboard reaches the content, and they print.
// Documents of older versions and hostile ones open on the page.
//
//   node look.mjs PROGRAM SOURCE [FOLDER]      screenshots and PDFs go to FOLDER where one is given
import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { createRequire } from 'node:module';
import { drive, inspect, inspectNarrow, inspectPictures, inspectTables } from './drive.mjs';

const SKIP = 77;
const [program, source, keep] = process.argv.slice(2);
const require = createRequire(import.meta.url);

function skip(why) {
    console.log(`SKIPPED: ${why}`);
    process.exit(SKIP);
}

function need(name) {
    try {
        return require(name);
    } catch {
        return skip(`${name} is not there; npm ci in tests/browser brings it`);
    }
}

const { chromium } = need('playwright-core');
const axe = need('axe-core').source;
const chrome = process.env.CHROMIUM ||
    ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(file => fs.existsSync(file));
if (!chrome) skip('no Chromium; apt-get install chromium, or CHROMIUM=PATH');

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'shardopt-look-'));
const HOSTILE = `=cmd|"><img src=x onerror=alert(1)><script>'&`;
const hostile = path.join(folder, HOSTILE);
fs.mkdirSync(hostile);
fs.copyFileSync(path.join(source, 'tests/data/models/configs/llama3.1-8b.json'), path.join(hostile, 'config.json'));

// Reports of two plans and of two ways to serve, for pages of what moved.
function report(name, words) {
    const file = path.join(folder, `${name}.json`);
    spawnSync(program, [...words, '--format', 'json', '-o', file]);
    return file;
}
const plans = ['64Ki', '128Ki'].map((batch, i) =>
    report(`plan${i}`, ['plan', '--model', '8b', '--chip', 'v5e', '--slice', '4x4', '--batch', batch, '--seq', '4096']));
const two = report('two', ['plan', '--model', '8b', '--chip', 'h100', '--chips', '2', '--batch', '64Ki']);
const serving = ['h100', 'h200'].map(chip => report(chip, ['inference', '--model', '8b', '--chip', chip, '--nodes', '1']));

// name, exit code, how many pictures at least, words; LOOK_ONLY=NAME looks at one alone
const PAGES = [
    ['dense', 0, 7, ['plan', '--model', '8b', '--chip', 'v5e', '--slice', '4x4', '--batch', '128Ki', '--seq', '4096']],
    ['mixture', 0, 8, ['plan', '--model', 'mixtral-8x7b', '--chip', 'h100', '--nodes', '4', '--batch', '1Mi', '--seq',
        '4096', '--require', 'pipeline=4', '--max-idle', '0']],
    ['serving', 0, 9, ['inference', '--model', '70b', '--chip', 'h100', '--nodes', '4', '--mode', 'disaggregated']],
    ['serving-torus', 0, 8, ['inference', '--model', '405b', '--chip', 'v5p', '--chips', '64']],
    ['serving-many', 0, 8, ['inference', '--model', '8b', '--chip', 'h100', '--nodes', '300', '--engine', 'vllm']],
    ['serving-lacks', 3, 0, ['inference', '--model', '405b', '--chip', 'l4', '--nodes', '1']],
    ['rl', 0, 4, ['rl', '--model', 'qwen3-30b-a3b', '--chip', 'h100', '--nodes', '4', '--answer', '1024', '--max-answer', '8192']],
    ['rl-colocated', 0, 4, ['rl', '--model', hostile, '--chip', 'h100', '--nodes', '1', '--colocated', '--algorithm', 'ppo']],
    ['rl-lacks', 3, 0, ['rl', '--model', '405b', '--chip', 'h100', '--nodes', '1']],
    ['infeasible', 3, 1, ['plan', '--model', '70b', '--chip', 'v5e', '--slice', '2x2', '--batch', '128Ki']],
    ['hostile', 0, 8, ['plan', '--model', hostile, '--chip', 'v5e', '--slice', '4x4', '--batch', '128Ki', '--top', '2']],
    ['explain', 0, 4, ['explain', '--model', '8b', '--chip', 'v5e', '--slice', '4x4', '--batch', '128Ki', '--plan', 'fsdp=16']],
    ['deep', 0, 4, ['explain', '--model', '405b', '--chip', 'h100', '--nodes', '128', '--batch', '16Mi', '--padding', 'any',
        '--plan', 'tensor=8 pipeline=32 data=4 schedule=1f1b']],
    ['sweep', 0, 2, ['sweep', '--model', `8b,${hostile}`, '--chip', 'v5e', '--chips', '16,64', '--batch', '256Ki']],
    ['bars', 0, 1, ['sweep', '--model', '8b', '--chip', 'v5e', '--slice', '4x4', '--batch', '64Ki,128Ki,256Ki']],
    ['map', 0, 2, ['sweep', '--model', '8b,70b', '--chip', 'v5p,v6e,h1000', '--chips', '64,256', '--batch', '1Mi', '--deadline', '300d']],
    ['sweep of serving', 0, 2, ['sweep', 'inference', '--model', '8b', '--chip', 'h100,h200', '--nodes', '1,2']],
    ['trace', 0, 2, ['trace', path.join(source, 'tests/data/traces/rank0.json')]],
    ['trace of a plan', 0, 3, ['trace', path.join(source, 'tests/data/traces/rank0.json'), path.join(source, 'tests/data/traces/megatron.log'), '--from', two]],
    ['diff', 0, 4, ['diff', ...plans]],
    ['diff of serving', 0, 4, ['diff', ...serving]],
    ['diff of none', 0, 0, ['diff', plans[0], plans[0]]],
    ['validate', 0, 2, ['validate', path.join(source, 'cost/measured/data/train.jsonl')]],
    ['validate of serving', 0, 2, ['validate', path.join(source, 'cost/measured/data/serving.jsonl'), '--chip', 'h100']],
];

// Documents of older versions, which lack fields, and of nobody.
const BAD = '</script><script>alert(1)</script><img src=x onerror=alert(1)>';
const LONG = 'a-very-long-name-without-blanks-'.repeat(12);
const DOCUMENTS = {
    'old sweep': ['#table', [{ point: 0, varies: { model: '8b', chips: '16' }, state: 'ok', best: { plan: 'fsdp=16', chips: 16, step_seconds: 2, mfu: 0.4 } },
        { point: 1, varies: { model: BAD, chips: LONG }, state: 'error', message: BAD, best: null, report: null }, { varies: {}, best: { mfu: null } }]],
    'old trace': ['#result', { format_version: 1, steps: 1, ranks: 1, step_seconds: 0.5, terms: [{ term: BAD, measured_seconds: 0.3, exposed_measured_seconds: 0.3 }, { term: LONG, measured_seconds: null }], differences: [BAD], unplaced: [{ name: LONG, seconds: 0.1 }] }],
    'old logs': ['#result', { format_version: 1, logs: [{ file: BAD, launcher: 'x', steps: 3 }] }],
    'old diff': ['#moved', { format_version: 1, a: { file: BAD }, b: { file: LONG }, different: true, request: { batch: { a: '1', b: null } }, figures: { step_seconds: { a: 0, b: 2 } }, terms_seconds: { matmul: { a: 0, b: null }, [BAD]: { a: 1, b: 2 } }, plans: [{ plan: LONG, rank_a: 1 }] }],
    'old validate': ['#runs', { format_version: 1, runs: [{ id: BAD, measured_seconds: 1, predicted_seconds: 2, error: 1, chip: LONG }, { id: LONG, measured_seconds: null, predicted_seconds: 1 }], skipped: [{ id: 'x', reason: BAD }], summary: { runs: 1 } }],
    'old rl': ['#answer', { format_version: 1, work: { algorithm: 'grpo', model: BAD, chips: 8, chip: 'h100' }, steps: [{ way: 'split', seconds: 2, train_chips: 4, rollout_chips: 4, phases: { generation: 1, training: 1 }, rollout: { replicas: 1, notation: LONG, engine: null } }] }],
    'old plan': ['#verdict', { plans: [{ rank: 1, notation: LONG, step: { seconds: 1 }, memory: { total_bytes: 1, limit_bytes: 2 } }], search: {}, mesh: {}, model: { name: BAD } }],
    'a list of anything': ['#rows', [null, 1, { a: BAD }]],
    nothing: ['#values', {}],
};

let failures = 0;
function expect(right, what) {
    if (right) return;
    failures++;
    console.log(`FAIL: ${what}`);
}

function make(name, code, words) {
    const file = path.join(folder, `${name}.html`);
    const made = spawnSync(program, [...words, '--format', 'html', '-o', file], { encoding: 'utf8' });
    expect(made.status === code, `${name}: exit ${made.status}, not ${code}: ${made.stderr}`);
    return file;
}

const PAPER_MOST = 16; // sheets

async function look(browser, name, file, pictures, scheme) {
    const context = await browser.newContext({ colorScheme: scheme, viewport: { width: 1280, height: 900 } });
    const page = await context.newPage();
    const where = `${name}, ${scheme}`;
    page.on('console', message => expect(false, `${where}: console: ${message.text()}`));
    page.on('pageerror', error => expect(false, `${where}: ${error}`));
    page.on('dialog', dialog => { expect(false, `${where}: a script ran`); dialog.dismiss(); });
    page.on('request', request => expect(request.url() === `file://${encodeURI(file)}`, `${where}: asks for ${request.url()}`));
    await page.goto(`file://${encodeURI(file)}`);
    await page.waitForSelector('body[data-ready]');
    const drawn = await page.locator('svg, figure.picture').count();
    expect(drawn >= pictures, `${where}: ${drawn} pictures, not ${pictures}`);
    expect(await page.locator('.lacks').count() === 0, `${where}: a part cannot be drawn`);
    for (const flaw of await page.evaluate(inspect)) expect(false, `${where}: ${flaw}`);
    expect(await page.locator('img, body > :not(main) script').count() === 0, `${where}: a name became markup`);
    expect(await page.locator('script:not([type])').count() === 1, `${where}: not one script`);
    for (const check of [inspectPictures, inspectTables]) for (const flaw of await page.evaluate(check)) expect(false, `${where}: ${flaw}`);
    if (name === 'hostile') expect((await page.innerText('h1')).includes(HOSTILE), `${where}: the name is not there as it is`);
    await page.setViewportSize({ width: 390, height: 800 });
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(wide <= 390, `${where}: ${wide} pixels wide on a telephone`);
    for (const flaw of await page.evaluate(inspectNarrow)) expect(false, `${where}, narrow: ${flaw}`);
    if (keep) await page.screenshot({ path: path.join(keep, `${name}-${scheme}-390.png`), fullPage: true });
    await page.setViewportSize({ width: 1280, height: 900 });
    await page.keyboard.press('Tab');
    const first = await page.evaluate(() => document.activeElement.getAttribute('href'));
    expect(first === '#main', `${where}: the first stop is ${first}, not the content`);
    for (const details of await page.locator('details:not(.raw)').all()) await details.evaluate(element => { element.open = true; });
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ['violations'] }));
    for (const violation of violations)
        expect(false, `${where}: axe ${violation.id}: ${violation.nodes.slice(0, 3).map(node => node.html.slice(0, 160)).join(' | ')}`);
    if (keep) await page.screenshot({ path: path.join(keep, `${name}-${scheme}.png`), fullPage: true });
    await drive(page, where, expect);
    if (scheme === 'light') {
        const pdf = await page.pdf({ format: 'A4' });
        expect(pdf.length > 15000 && pdf.subarray(0, 5).toString() === '%PDF-', `${where}: prints ${pdf.length} bytes`);
        const sheets = pdf.toString('latin1').split(/\/Type\s*\/Page\b/).length - 1;
        expect(sheets <= PAPER_MOST, `${where}: ${sheets} sheets of paper`);
        if (keep) fs.writeFileSync(path.join(keep, `${name}.pdf`), pdf);
    }
    if (name === 'map') {
        await page.locator('.choices select').last().selectOption('map');
        expect(await page.locator('table.map td[data-tip]').count() === 4, `${where}: a map of four cells`);
        await page.locator('table.map td[data-tip]').first().hover();
        expect(/MFU, /.test(await page.locator('#tip').textContent()), `${where}: a cell of a map says nothing`);
        if (keep) await page.screenshot({ path: path.join(keep, `${name}-${scheme}-cells.png`) });
        await page.locator('main table button', { hasText: 'open' }).first().click();
        await page.waitForSelector('#verdict');
        await page.getByRole('button', { name: 'Back to the sweep' }).click();
        await page.waitForSelector('#front', { timeout: 5000 }).catch(() => expect(false, `${where}: nothing leads back to the sweep`));
    }
    if (name === 'validate') {
        await page.locator('.choices select').first().selectOption('HBM');
        await page.locator('.choices select').last().selectOption('stack');
        expect((await page.locator('figcaption').first().textContent()) === 'Predicted against measured HBM', `${where}: HBM is not shown`);
        expect(await page.locator('.strips .run').count() > 50, `${where}: strokes of HBM`);
    }
    if (name === 'dense') for (const [what, [selector, document]] of Object.entries(DOCUMENTS)) {
        await page.setInputFiles('#open input', { name: 'old.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(document)) });
        await page.waitForSelector(selector, { timeout: 3000 }).catch(() => expect(false, `${where}: ${what} is not shown`));
        await page.waitForTimeout(150);
        expect(await page.locator('main img, main script').count() === 0, `${where}: ${what}: a name became markup`);
        await page.setViewportSize({ width: 390, height: 800 });
        const wide_ = await page.evaluate(() => document.documentElement.scrollWidth);
        expect(wide_ <= 390, `${where}: ${what} is ${wide_} pixels wide on a telephone`);
        if (keep) await page.screenshot({ path: path.join(keep, `${what}-${scheme}.png`), fullPage: true });
        await page.setViewportSize({ width: 1280, height: 900 });
    }
    if (name === 'dense') { // another report, opened on the page
        await page.setInputFiles('#open input', serving[0]);
        await page.waitForSelector('#front', { timeout: 5000 }).catch(() => expect(false, `${where}: a report that is opened is not shown`));
    }
    await context.close();
}

const browser = await chromium.launch({ executablePath: chrome, args: ['--no-sandbox'] });
try {
    for (const [name, code, pictures, words] of PAGES.filter(([name]) => !process.env.LOOK_ONLY || name === process.env.LOOK_ONLY)) {
        const file = make(name, code, words);
        if (!fs.existsSync(file)) continue;
        for (const scheme of ['light', 'dark']) await look(browser, name, file, pictures, scheme);
        console.log(`${name}: ${fs.statSync(file).size} bytes`);
    }
} finally {
    await browser.close();
    fs.rmSync(folder, { recursive: true, force: true });
}
console.log(failures === 0 ? 'ok' : `${failures} failures`);
process.exit(failures === 0 ? 0 : 1);
