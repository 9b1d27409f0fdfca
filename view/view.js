// SPDX-License-Identifier: GPL-3.0-or-later
// What a page shows of a document: a row of VIEWS for each kind of answer. A document of an older version lacks parts; what
// is not there is not shown.
'use strict';

// ---- documents without a view of their own ----

const rowsOf = (name, rows) => table(words(name), [...new Set(rows.flatMap(row => flat(row).map(one => one.name)))].slice(0, 24).map(key => [key, row => flat(row).find(one => one.name === key)?.value, unitOf(key)]), rows);
function plainView(d) {
  if (d === null || typeof d !== 'object' || Object.keys(d).length === 0) return [section('values', 'Values', paragraph('The document is empty.'))];
  if (Array.isArray(d)) return [section('rows', 'Rows', rowsOf('rows', d.map(row => row !== null && typeof row === 'object' ? row : { value: row })))];
  return [section('values', 'Values', pairs('Values', Object.fromEntries(Object.entries(d).filter(([, value]) => value === null || typeof value !== 'object')))),
    ...Object.entries(d).map(([name, value], i) => Array.isArray(value) && value.length && value.every(one => one !== null && typeof one === 'object') ? section('part' + i, words(name), rowsOf(name, value)) : value && typeof value === 'object' ? section('part' + i, words(name), pairs(words(name), value)) : null)];
}

// ---- all of them ----

const VIEWS = [
  { is: isSweep, title: d => `A sweep of ${say('count', d.length)} point${d.length === 1 ? '' : 's'}`, lead: d => d[0].words?.lead ?? `over ${optionsOf(d).join(', ')}`, of: sweepView },
  { is: d => Array.isArray(d.plans) && d.search && d.mesh, title: d => d.words?.title ?? `${d.model?.name} on ${d.mesh?.text}`, lead: d => isNamed(d) ? 'One plan in full' : 'The best way to shard it, and why', of: planView },
  { is: d => Array.isArray(d.front), title: d => d.words?.title ?? `${d.model?.name} on ${d.mesh?.chips} x ${d.mesh?.chip}`, lead: () => 'The best way to serve it, and every other one that is not beaten', of: servingView },
  { is: d => Array.isArray(d.steps) && d.work, title: d => d.words?.title ?? `${d.work.algorithm} of ${d.work.model} on ${d.work.chips} x ${d.work.chip}`, lead: () => 'One step of reinforcement learning: both pools, their phases and the longest answers', of: rlView },
  { is: d => Array.isArray(d.terms) && d.step_seconds > 0 || Array.isArray(d.logs), title: d => hasPlan(d) ? 'A measured step compared with its plan' : 'A measured step', lead: () => 'Where the time of a step went, by what a profiler recorded', of: traceView },
  { is: d => d.a && d.b && d.different !== undefined, title: d => d.words?.title ?? 'Two reports side by side', lead: d => d.different ? d.words?.headline ?? 'What moved from A to B' : 'They do not differ', of: movedView },
  { is: d => Array.isArray(d.runs) && d.summary, title: () => 'Predicted against measured', lead: d => d.file ? `Runs of ${d.file}, replayed with profile ${d.profile}` : 'Measured runs, replayed', of: validateView },
  { is: () => true, title: d => d.model?.name ?? 'shardopt', lead: () => 'A document of shardopt', of: plainView },
];

// Old documents lack fields that a picture needs.
const lacks = () => el('section', { class: 'lacks', 'aria-label': 'What is not shown' }, paragraph('A part is not shown: the document lacks fields of it.'));
// `now`: all of it at once; `back`: what leads back to where the document was opened.
let shownIn = {};
function show(d, { main = shownIn.main ?? document.getElementById('main'), header = shownIn.header ?? document.querySelector('header'), now = false, back } = {}) {
  shownIn = { main, header };
  redraws.clear();
  regions.clear();
  tip.hide();
  if (d === null) {
    main.replaceChildren(paragraph('This page shows JSON reports of shardopt. Open one below, or drop one here.'));
    return;
  }
  let view = VIEWS.find(one => one.is(d)), parts;
  try { parts = view.of(d); view.title(d); view.lead(d); } catch { parts = [lacks(), ...plainView(d)]; view = VIEWS.at(-1); }
  const [first, ...rest] = parts, title = view.title(d);
  document.title = title;
  header.replaceChildren(el('h1', {}, title), el('p', { class: 'lead' }, view.lead(d)), back ? el('p', { class: 'tools' }, el('button', { type: 'button', onclick: back }, '← Back to the sweep')) : '');
  if (back) { header.querySelector('button').focus(); scrollTo(0, 0); }
  const links = el('ol'), nav = el('nav', { 'aria-label': 'Sections' }, links);
  const add = part => { if (part && !part.id) main.append(part); else if (part) { links.append(el('li', {}, el('a', { href: '#' + part.id }, part.querySelector('h2').textContent))); main.append(part); } };
  const raw = el('details', { class: 'raw', ontoggle: () => { if (!raw.lastChild.textContent) raw.lastChild.textContent = JSON.stringify(d, null, 1); } }, el('summary', {}, 'The document as JSON'), el('pre', { tabindex: '0', role: 'region', 'aria-label': 'The document as JSON' }));
  main.replaceChildren(nav);
  add(first);
  // The answer is painted before the pictures are made.
  const finish = () => {
    rest.forEach(part => { try { add(typeof part === 'function' ? part() : part); } catch { main.append(lacks()); } });
    main.append(raw);
    document.body.dataset.ready = 'yes';
  };
  if (now) finish();
  else requestAnimationFrame(() => setTimeout(finish));
}
