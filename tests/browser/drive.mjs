// SPDX-License-Identifier: GPL-3.0-or-later
// What people do to a report in a browser, and what it must have: for pages of files (look.mjs) and for the answers of
// shardopt.html (../web/browser.mjs). Functions named inspect... run in the page; they return flaws, a line each.

// In the page: sections without content, pictures that draw nothing.
export function inspect() {
    const flaws = [];
    for (const section of document.querySelectorAll('main > section')) {
        const pictures = [...section.querySelectorAll('svg')];
        const content = pictures.length + section.querySelectorAll('td, li').length + section.querySelectorAll('p, dt, pre').length;
        if (content === 0 || section.innerText.trim().length < 40) flaws.push(`section ${section.id} is empty`);
        if (!section.querySelector('h2')) flaws.push(`section ${section.id} has no heading`);
    }
    for (const picture of document.querySelectorAll('figure.picture'))
        if (!picture.querySelector('svg, canvas, .bars, .chips, table.map')) flaws.push(`${picture.innerText.slice(0, 40)} draws nothing`);
    const levels = [...document.querySelectorAll('h1, h2, h3')].map(heading => Number(heading.tagName[1]));
    levels.forEach((level, i) => { if (level > (levels[i - 1] ?? 0) + 1) flaws.push('a heading skips a level'); });
    const ids = [...document.querySelectorAll('[id]')].map(element => element.id);
    if (new Set(ids).size !== ids.length) flaws.push('an id is there twice');
    return flaws;
}

// A picture has a name, words for who does not see it, a table of its figures, and is reached by the keyboard.
export function inspectPictures() {
    const flaws = [];
    for (const figure of document.querySelectorAll('figure.picture')) {
        const name = figure.querySelector('figcaption')?.textContent ?? '', flaw = text => flaws.push(`picture "${name}" ${text}`);
        if (name === '') flaw('has no name');
        const details = document.getElementById(figure.getAttribute('aria-details')), tables = [...figure.querySelectorAll('table'), ...details?.querySelectorAll('table') ?? []];
        if (!tables.some(table => table.caption?.textContent && table.tBodies[0].rows.length > 0)) flaw('has no table of its figures');
        for (const image of figure.querySelectorAll('svg, [role=img]')) {
            const said = image.querySelector('desc')?.textContent ?? image.getAttribute('aria-description') ?? '';
            if (image.getAttribute('role') !== 'img' || !image.getAttribute('aria-label') || said.length < 5) flaw(`has an image without words: ${image.outerHTML.slice(0, 120)}`);
        }
        const drawn = [...figure.querySelectorAll('.bars, .plot, .timeline canvas, .mesh .roles, .chips .wide, table.map')];
        if (drawn.length === 0 && !figure.querySelector('.mesh')) flaw('draws nothing that is known');
        for (const one of drawn) {
            const stop = one.matches('[tabindex="0"]') ? one : one.closest('[tabindex="0"]');
            if (!stop?.getAttribute('role') || !stop.getAttribute('aria-label')) flaw(`is not reached by the keyboard: ${one.outerHTML.slice(0, 120)}`);
        }
    }
    return flaws;
}

// On a telephone: figures beside bars that leave their place, and cards one below the other.
export function inspectNarrow() {
    const flaws = [];
    for (const label of document.querySelectorAll('.ticks b, .row .sum')) if (label.scrollWidth > label.clientWidth + 1 && label.clientWidth > 0) flaws.push(`"${label.textContent}" leaves its place`);
    const cards = [...document.querySelectorAll('.cards > div')].map(card => card.getBoundingClientRect().top);
    if (cards.length > 1 && cards[0] !== cards[1]) flaws.push('cards stand one below the other');
    return flaws;
}

// The page's policy lets its one script run: tables sort by the value of their numbers, either way, and filter.
export function inspectTables() {
    const flaws = [];
    const values = (table, column) => [...table.tBodies[0].rows].map(row => row.cells[column].textContent.trim());
    for (const table of document.querySelectorAll('main table')) {
        const before = values(table, 0), heads = [...table.tHead.rows[0].cells], name = table.caption.textContent;
        if (before.length < 3) continue;
        const sorts = heads.findIndex(head => head.querySelector('button'));
        const at = heads.findIndex(head => /step|share|median/.test(head.textContent)), button = heads[at < 0 ? Math.max(0, sorts) : at].querySelector('button');
        if (!button) { flaws.push(`${name} does not sort`); continue; }
        button.click();
        const seconds = text => text === 'none' ? 0 : parseFloat(text.replaceAll(',', '')) * ({ ms: 1e-3, us: 1e-6 }[text.split(' ')[1]] ?? 1);
        const sorted = values(table, Math.max(0, at)).filter(text => text !== '').map(seconds);
        const right = sorted.every((value, i) => i === 0 || isNaN(value) || isNaN(sorted[i - 1]) || value >= sorted[i - 1] - 1e-12);
        if (at >= 0 && !right) flaws.push(`${name}: ${sorted.slice(0, 5)} is not sorted`);
        button.click();
        if (button.parentElement.getAttribute('aria-sort') !== 'descending') flaws.push(`${name} does not say how it is sorted`);
        if (values(table, 0).length !== before.length) flaws.push(`${name} has lost rows`);
        const label = table.parentElement.previousElementSibling, field = label?.matches('.filter') ? label.querySelector('input') : null;
        if ((before.length > 11) !== Boolean(field)) flaws.push(`${name}: a filter where there should be none, or none`);
        if (!field) continue;
        field.value = before.at(-1).split(' ')[0];
        field.dispatchEvent(new Event('input'));
        const left = [...table.tBodies[0].rows].filter(row => !row.hidden);
        const wrong = left.filter(row => !row.textContent.toLowerCase().includes(field.value.toLowerCase()));
        if (left.length === 0 || wrong.length > 0) flaws.push(`${name} does not filter`);
        field.value = '';
        field.dispatchEvent(new Event('input'));
    }
    return flaws;
}

// What is hovered says so, pictures of points are walked and pinned by keys, a timeline zooms, and Enter sorts.
export async function drive(page, where, expect) {
    const tip = () => page.evaluate(() => { const box = document.getElementById('tip'); return box && !box.hidden ? box.textContent : ''; });
    const part = page.locator('.bars .bar i[class*=paint]:visible').first();
    if (await part.count()) {
        await part.hover();
        expect(/[\d.]+ (s|ms|us|GB|MB)|%/.test(await tip()), `${where}: a bar says "${await tip()}"`);
        await page.keyboard.press('Escape');
        expect(await tip() === '', `${where}: Escape leaves the words of a bar`);
        const bars = page.locator('.bars:visible').first();
        await bars.focus();
        await page.keyboard.press('ArrowRight');
        const one = await tip();
        await page.keyboard.press('End');
        expect(one !== '' && await tip() !== '', `${where}: keys in bars say "${one}", "${await tip()}"`);
        await page.keyboard.press('Escape');
        expect(await tip() === '', `${where}: Escape leaves the words of a bar that keys came to`);
    }
    const plot = page.locator('.plot').first();
    if (await plot.count()) {
        await plot.scrollIntoViewIfNeeded();
        await page.waitForSelector('.plot canvas');
        await plot.focus();
        await page.keyboard.press('ArrowRight');
        const first = await tip();
        await page.keyboard.press('ArrowRight');
        await page.keyboard.press('Enter');
        const pinned = await plot.locator('xpath=following-sibling::*[@role="status"]').textContent();
        expect(first !== '' && pinned.startsWith('Pinned: '), `${where}: keys in a plot give "${first}", "${pinned}"`);
        await page.keyboard.press('Escape');
        const box = await plot.boundingBox();
        let hovered = '';
        for (let x = 0; x < 40 && !hovered; x++) for (let y = 0; y < 20 && !hovered; y++) { await page.mouse.move(box.x + box.width * (x + 0.5) / 40, box.y + box.height * (y + 0.5) / 20); hovered = await tip(); }
        expect(hovered !== '', `${where}: no point of a plot answers the pointer`);
    }
    const time = page.locator('.timeline').first();
    if (await time.count()) {
        const shown = () => time.locator('[role=status]').textContent();
        await time.getByRole('button', { name: 'Zoom in' }).click();
        const once = await shown();
        await time.locator('canvas').focus();
        await page.keyboard.press('+');
        expect(once !== '' && await shown() !== once, `${where}: a timeline does not zoom: "${once}", "${await shown()}"`);
        await page.keyboard.press('0');
        expect(await shown() === '', `${where}: 0 does not show all of a timeline`);
        const box = await time.locator('canvas').boundingBox();
        await page.mouse.move(box.x + box.width * 0.4, box.y + 8);
        await page.mouse.down();
        await page.mouse.move(box.x + box.width * 0.6, box.y + 8, { steps: 4 });
        await page.mouse.up();
        expect((await shown()).startsWith('From '), `${where}: a range of a timeline is not zoomed to`);
        await page.keyboard.press('0');
    }
    const head = page.locator('main table:visible thead button').nth(1);
    if (await head.count()) {
        await head.focus();
        await page.keyboard.press('Enter');
        expect(await head.locator('..').getAttribute('aria-sort') === 'ascending', `${where}: Enter does not sort`);
    }
    await page.mouse.move(0, 0);
    await page.keyboard.press('Escape');
}
