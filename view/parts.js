// SPDX-License-Identifier: GPL-3.0-or-later
// Numbers as people read them, elements, tables and tiles. Every text of a document becomes a text node, never markup.
'use strict';

// ---- numbers ----

const grouped = text => text.replace(/^[+-]?\d+/, whole => whole.replace(/\B(?=(\d{3})+$)/g, ','));
function digits(x, n) {
  const text = x.toPrecision(n);
  return grouped(text.includes('e') && Math.abs(x) >= 1e-6 ? String(Number(text)) : text);
}
const TIMES = [[2 * 31557600, 31557600, 'years'], [2 * 86400, 86400, 'days'], [7200, 3600, 'hours'], [120, 60, 'minutes']];
const SMALL_TIMES = [[1, 1, 's'], [1e-3, 1e-3, 'ms'], [1e-6, 1e-6, 'us'], [0, 1e-9, 'ns']];
function si(x, unit) {
  const size = Math.abs(x), step = size < 1e3 ? 0 : Math.min(6, Math.floor(Math.log10(size) / 3 + 1e-12));
  return digits(x / 1000 ** step, 3) + ' ' + ['', 'k', 'M', 'G', 'T', 'P', 'E'][step] + unit;
}
const SAY = {
  seconds: x => x === 0 ? '0 s' : Math.abs(x) >= 1 ? digits(x, 4) + ' s' : small(x),
  duration: x => { const [, size, name] = TIMES.find(([least]) => Math.abs(x) >= least) ?? []; return size ? digits(x / size, 3) + ' ' + name : SAY.seconds(x); },
  time: x => Math.abs(x) >= 1 && Math.abs(x) < 120 ? digits(x, 3) + ' s' : SAY.duration(x),
  bytes: x => si(x, 'B'),
  byte_rate: x => si(x, 'B/s'),
  flops: x => si(x, 'FLOP'),
  flop_rate: x => si(x, 'FLOP/s'),
  share: x => (100 * x).toFixed(1) + '%',
  change: x => Math.abs(x) < 5e-5 ? '0%' : (x > 0 ? '+' : '−') + (100 * Math.abs(x)).toFixed(Math.abs(x) < 0.01 ? 2 : 1) + '%',
  usd: x => x >= 1e4 ? '$' + si(x, '').trim() : '$' + x.toFixed(2),
  count: x => Math.abs(x) < 1e16 ? grouped(String(Math.round(x))) : digits(x, 4),
  short: x => si(x, '').trim(),
  number: x => Number.isInteger(x) ? String(x) : digits(x, 4),
  text: x => String(x),
  yes: x => x ? 'yes' : 'no',
};
function small(x) {
  const [, size, name] = SMALL_TIMES.find(([least]) => Math.abs(x) >= least);
  return digits(x / size, 4) + ' ' + name;
}
// By the end of a key: documents name their units.
const UNITS = [[/_seconds_per_token$|relative/, 'change'], [/training.*seconds$|mtbf_seconds$/, 'duration'], [/seconds$/, 'seconds'], [/bytes_per_second$/, 'byte_rate'],
  [/flops_per_second$/, 'flop_rate'], [/bytes$/, 'bytes'], [/usd$|usd_per_/, 'usd'], [/^mfu|share$|gap$|probability$|goodput$|deviation$|utilization$/, 'share'],
  [/chips$|sequences$|tokens$|layers$|plans_|hosts$|^seq$|count$/, 'count']];
const unitOf = key => UNITS.find(([pattern]) => pattern.test(key))?.[1] ?? 'number';
const say = (unit, x) => x === null || x === undefined || x === '' ? '' : typeof x === 'boolean' ? SAY.yes(x) : typeof x !== 'number' ? String(x) : Number.isFinite(x) ? SAY[unit](x) : '';
// Of an axis: no zeros behind the point.
const tick = (unit, x) => say(unit, x).replace(/\.0+(?=\s|%|$)/, '').replace(/(\.\d*[1-9])0+(?=\s|%|$)/, '$1');
const words = key => key.replace(/_(seconds|bytes|usd)$/, '').replaceAll('_', ' ');

// ---- elements ----

const at = (o, path) => path.split('.').reduce((value, key) => value?.[key], o);
function el(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) made.addEventListener(name.slice(2), value);
    else if (name === 'style') for (const [property, v] of Object.entries(value)) made.style.setProperty(property, v);
    else made.setAttribute(name, value === true ? '' : value);
  }
  made.append(...children.flat(9).filter(child => child !== null && child !== undefined && child !== ''));
  return made;
}
const SVG = 'http://www.w3.org/2000/svg';
function svg(tag, attributes, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes ?? {})) made.setAttribute(name, value);
  made.append(...children.filter(child => child !== ''));
  return made;
}
const paragraph = text => text ? el('p', {}, text) : '';
const list = texts => texts?.length ? el('ul', {}, texts.map(text => el('li', {}, text))) : '';
const code = (before, text) => text ? el('p', { class: 'command' }, before + ' ', el('code', {}, text),
  el('button', { type: 'button', class: 'copy', 'aria-label': 'Copy: ' + text, onclick: event => { navigator.clipboard?.writeText(text); event.target.textContent = 'copied'; } }, 'copy')) : '';
const folded = (summary, ...body) => body.some(part => part) ? el('details', {}, el('summary', {}, summary), body) : '';

// A choice in a line of them: [[value, name]].
const choice = (name, all, value, onchange, of) => el('label', {}, name + ' ', el('select', { 'data-of': of, onchange: event => onchange(event.target.value) }, all.map(([key, text]) => el('option', { value: key, selected: key === value }, text))));
// Choices of what `state` has, by key; `draw` draws `place` anew, where the one that was changed keeps the focus.
const choices = (state, place, draw) => (name, all, key) => all.length > 1 ? choice(name, all, state[key], value => { state[key] = value; draw(); place.querySelector(`[data-of=${key}]`)?.focus(); }, key) : '';

// Regions of a page have names of their own.
const regions = new Map();
function region(name) {
  const count = (regions.get(name) ?? 0) + 1;
  regions.set(name, count);
  return { tabindex: '0', role: 'region', 'aria-label': count > 1 ? `${name} (${count})` : name };
}
// A section with a heading; nothing without content.
function section(id, heading, ...body) {
  body = body.flat(9).filter(part => part);
  return body.length ? el('section', { id, 'aria-labelledby': id + '-h', tabindex: '-1' }, el('h2', { id: id + '-h' }, heading), body) : null;
}
// A picture with its figures as a table, for who does not see it.
const dataOf = data => el('details', { class: 'data' }, el('summary', {}, 'The figures as a table'), data);
const figure = (name, picture, data) => picture ? el('figure', { class: 'picture' }, el('figcaption', { class: 'name' }, name), picture, data ? dataOf(data) : '') : '';
// Pictures that share a table.
function pictures(id, all, data) {
  const made = all.map(([name, picture]) => figure(name, picture)).filter(one => one), details = dataOf(data);
  details.id = id;
  for (const one of made) one.setAttribute('aria-details', id);
  return made.length ? [...made, details] : '';
}

// What the pointer or the keyboard is on, in words.
const tip = {
  box: null,
  show(text, x, y) {
    this.box ??= document.body.appendChild(el('div', { id: 'tip', role: 'status' }));
    this.box.textContent = text;
    this.box.hidden = false;
    const wide = this.box.offsetWidth, high = this.box.offsetHeight;
    this.box.style.left = Math.max(4, Math.min(x + 12, innerWidth - wide - 4)) + 'px';
    this.box.style.top = (y + 16 + high > innerHeight ? Math.max(4, y - high - 10) : y + 16) + 'px';
  },
  hide() { if (this.box) this.box.hidden = true; },
};
let walks = false; // a picture that scrolls beneath the pointer is not pointed at
document.addEventListener('pointermove', () => { walks = false; });
document.addEventListener('pointerover', event => {
  if (walks) return;
  const on = event.target.closest?.('[data-tip]');
  if (on) tip.show(on.dataset.tip, event.clientX, event.clientY);
  else if (!event.target.closest?.('.plot, canvas')) tip.hide();
});
// A picture that has the focus: arrows go from part to part.
const WALKED = { tabindex: '0', 'data-walk': '' };
const atIn = new WeakMap();
function walkTo(picture, i) {
  const all = [...picture.querySelectorAll('[data-tip]')], to = all[i];
  all[atIn.get(picture)]?.classList.remove('at');
  atIn.set(picture, to ? i : undefined);
  if (!to) { tip.hide(); return; }
  walks = true;
  to.classList.add('at');
  to.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  const edge = to.getBoundingClientRect();
  tip.show(to.dataset.tip, edge.left, edge.bottom - 8);
}
document.addEventListener('keydown', event => {
  const picture = event.target.closest?.('[data-walk]');
  if (event.key === 'Escape') picture ? walkTo(picture) : tip.hide();
  if (picture !== event.target || !picture) return;
  const count = picture.querySelectorAll('[data-tip]').length, now = atIn.get(picture), to = { ArrowRight: now === undefined ? 0 : now + 1, ArrowLeft: (now ?? 0) - 1, Home: 0, End: count - 1 }[event.key];
  if (to === undefined || count === 0) return;
  walkTo(picture, (to + count) % count);
  event.preventDefault();
});
document.addEventListener('focusout', event => { if (event.target.matches?.('[data-walk]')) walkTo(event.target); });

// ---- tiles ----

// [[name, value, more]]: nothing of a tile without a value.
const tiles = all => el('dl', { class: 'cards' }, all.filter(([, value]) => value).map(([name, value, more]) =>
  el('div', {}, el('dt', {}, name), el('dd', {}, value, more ? el('small', {}, more) : ''))));

// ---- tables ----

// columns: [heading, key or function of a row, unit]. A click or Enter on a heading sorts by the value; rows without one
// stay last. Long tables have a field that filters their rows.
const ROWS_FILTERED = 11;
function table(caption, columns, rows, options = {}) {
  if (!rows?.length) return '';
  columns = columns.map(([heading, get, unit]) => ({ heading, get: typeof get === 'function' ? get : row => at(row, get), unit }));
  columns = columns.filter(column => !options.drop || rows.some(row => ![undefined, null, ''].includes(column.get(row))));
  for (const column of columns) column.number = rows.some(row => typeof column.get(row) === 'number') && rows.every(row => typeof column.get(row) !== 'string' || column.get(row) === '');
  const body = el('tbody'), all = rows.map(row => {
    const line = el('tr', options.row?.(row) ?? {}, columns.map((column, i) => {
      const value = column.get(row), text = value instanceof Node ? value : say(column.unit ?? 'number', value);
      return el(i === 0 ? 'th' : 'td', { scope: i === 0 ? 'row' : null, class: column.number ? 'n' : typeof text === 'string' ? text.length > 24 ? 'long' : 'short' : null }, text);
    }));
    return { row, line };
  });
  const show = sorted => body.append(...sorted.map(({ line }) => line));
  show(all);
  const compare = (x, y) => typeof x === 'number' && typeof y === 'number' ? x - y : String(x).localeCompare(String(y), 'en', { numeric: true });
  const value = (one, column) => { const v = column.get(one.row); return v === undefined || v === null || v === '' ? null : v instanceof Node ? v.textContent : v; };
  const heads = columns.map(column => el('th', { scope: 'col', class: column.number ? 'n' : null }, all.length < 3 ? column.heading : el('button', { type: 'button', onclick: event => {
    const head = event.target.closest('th'), down = head.getAttribute('aria-sort') === 'ascending';
    heads.forEach(other => other.removeAttribute('aria-sort'));
    head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
    const known = all.filter(one => value(one, column) !== null).sort((a, b) => compare(value(a, column), value(b, column)) * (down ? -1 : 1));
    show([...known, ...all.filter(one => value(one, column) === null)]);
  } }, column.heading)));
  const made = el('table', { class: all.length > 40 ? 'many' : null }, el('caption', {}, el('span', {}, caption)), el('thead', {}, el('tr', {}, heads)), body);
  const wide = el('div', { class: 'wide', ...region('Table: ' + caption) }, made);
  if (all.length <= ROWS_FILTERED) return wide;
  const count = el('output'), field = el('input', { type: 'search', oninput: () => {
    const wanted = field.value.toLowerCase().split(/\s+/);
    let shown = 0;
    for (const { line } of all) {
      const text = line.textContent.toLowerCase();
      line.hidden = !wanted.every(word => text.includes(word));
      shown += line.hidden ? 0 : 1;
    }
    count.value = field.value === '' ? '' : `${shown} of ${all.length}`;
  } });
  return el('div', {}, el('label', { class: 'filter' }, 'Rows with ', field, ' ', count), wide);
}
// A document's object as names and values; objects in it by their path.
function flat(object, path = '') {
  return Object.entries(object ?? {}).flatMap(([key, value]) => value !== null && typeof value === 'object' && !Array.isArray(value) ? flat(value, path + key + '.')
    : Array.isArray(value) && value.some(one => one !== null && typeof one === 'object') ? [] : [{ name: path + key, value: Array.isArray(value) ? value.join(' ') : value, unit: unitOf(key) }]);
}
const pairs = (caption, object) => table(caption, [['name', 'name'], ['value', row => typeof row.value === 'number' ? say(row.unit, row.value) : typeof row.value === 'boolean' ? SAY.yes(row.value) : row.value ?? '']], flat(object));
