// SPDX-License-Identifier: GPL-3.0-or-later
// What a page shows of a document: a row of VIEWS for each kind of answer. A document of an older version lacks parts; what
// is not there is not shown.
'use strict';

// ---- documents without a view of their own ----

const rowsOf = (name, rows) => table(words(name), [...new Set(rows.flatMap(row => flat(row).map(one => one.name)))].slice(0, 24).map(key => [key, row => flat(row).find(one => one.name === key)?.value, unitOf(key)]), rows);
function plainView(d) {
  if (Array.isArray(d)) return [section('rows', 'Rows', rowsOf('rows', d.map(row => row.state === undefined ? row : { ...row.varies, ...row })))];
  return [section('values', 'Values', pairs('Values', Object.fromEntries(Object.entries(d).filter(([, value]) => value === null || typeof value !== 'object')))),
    ...Object.entries(d).map(([name, value], i) => Array.isArray(value) && typeof value[0] === 'object' ? section('part' + i, words(name), rowsOf(name, value)) : value && typeof value === 'object' ? section('part' + i, words(name), pairs(words(name), value)) : null)];
}

// ---- all of them ----

const VIEWS = [
  { is: d => Array.isArray(d.plans) && d.search && d.mesh, title: d => d.words?.title ?? `${d.model?.name} on ${d.mesh?.text}`, lead: d => isNamed(d) ? 'One plan in full' : 'The best way to shard it, and why', of: planView },
  { is: d => Array.isArray(d.front), title: d => d.words?.title ?? `${d.model?.name} on ${d.mesh?.chips} x ${d.mesh?.chip}`, lead: () => 'The best way to serve it, and every other one that is not beaten', of: servingView },
  { is: d => Array.isArray(d.steps) && d.work, title: d => d.words?.title ?? `${d.work.algorithm} of ${d.work.model} on ${d.work.chips} x ${d.work.chip}`, lead: () => 'One step of reinforcement learning: both pools, their phases and the longest answers', of: rlView },
  { is: () => true, title: d => d.model?.name ?? 'shardopt', lead: () => 'A document of shardopt', of: plainView },
];

// `now`: all of it at once.
function show(d, main = document.getElementById('main'), header = document.querySelector('header'), now = false) {
  redraws.clear();
  regions.clear();
  tip.hide();
  if (d === null) {
    main.replaceChildren(paragraph('This page shows JSON reports of shardopt. Open one below, or drop one here.'));
    return;
  }
  const view = VIEWS.find(one => one.is(d)), [first, ...rest] = view.of(d), title = view.title(d);
  document.title = title;
  header.replaceChildren(el('h1', {}, title), el('p', { class: 'lead' }, view.lead(d)));
  const links = el('ol'), nav = el('nav', { 'aria-label': 'Sections' }, links);
  const add = part => { if (part) { links.append(el('li', {}, el('a', { href: '#' + part.id }, part.querySelector('h2').textContent))); main.append(part); } };
  const raw = el('details', { class: 'raw', ontoggle: () => { if (!raw.lastChild.textContent) raw.lastChild.textContent = JSON.stringify(d, null, 1); } }, el('summary', {}, 'The document as JSON'), el('pre', { tabindex: '0', role: 'region', 'aria-label': 'The document as JSON' }));
  main.replaceChildren(nav);
  add(first);
  // The answer is painted before the pictures are made.
  const finish = () => {
    rest.forEach(part => add(typeof part === 'function' ? part() : part));
    main.append(raw);
    document.body.dataset.ready = 'yes';
  };
  if (now) finish();
  else requestAnimationFrame(() => setTimeout(finish));
}
