// SPDX-License-Identifier: GPL-3.0-or-later
// A sweep: an array with a row for each point of a grid, of plans, of serving or of RL.
'use strict';

// [key of a row's best, name, unit, whether more is better]
const SWEPT = [['mfu', 'MFU', 'share', true], ['step_seconds', 'step', 'seconds'], ['tokens_per_second_per_chip', 'tokens/s of a chip', 'number', true], ['tokens_per_hour', 'tokens an hour', 'short', true], ['seconds', 'step', 'seconds'],
  ['tokens_per_second_per_user', 'tokens/s of a user', 'number', true], ['tpot_seconds', 'time of a token', 'seconds'], ['ttft_seconds', 'first token', 'seconds'], ['hbm_bytes', 'HBM', 'bytes'], ['tokens_per_second', 'tokens/s', 'short', true],
  ['chip_hours', 'chip-hours', 'short'], ['cost_usd', 'cost', 'usd'], ['expected_seconds', 'training, with failures', 'duration'], ['expected_cost_usd', 'cost, with failures', 'usd'], ['reserved_cost_usd', 'cost, reserved', 'usd'],
  ['cost_usd_per_million_output_tokens', '$ a million tokens', 'usd'], ['usd', 'cost of a step', 'usd'], ['chips', 'chips', 'count'], ['train_chips', 'chips that train', 'count'], ['rollout_chips', 'chips that generate', 'count']];
const STATES = { ok: 'proven', no_plan: 'no plan fits', not_proven: 'not proven', error: 'error' };
const OF_MACHINE = ['pods', 'slice', 'slices', 'chips', 'nodes', 'gpus-per-node'], TRAINED = ['model', 'tokens', 'seq'];
const USED = 'chips that are used';
const isSweep = d => Array.isArray(d) && d.length > 0 && d.every(row => row?.varies && typeof row.varies === 'object');
const best = row => row.best ?? {};
const optionsOf = d => [...new Set(d.flatMap(row => Object.keys(row.varies)))];
const pointText = (row, but = []) => Object.entries(row.varies).filter(([name]) => !but.includes(name)).map(([name, value]) => `${name}=${value}`).join(' ');
const groupText = (row, names) => names.map(name => row.varies[name]).filter(value => value !== undefined).join(' ');
const SIZES = { '': 1, k: 1e3, Ki: 1024, M: 1e6, Mi: 1024 ** 2, G: 1e9, Gi: 1024 ** 3, T: 1e12 };
// "64", "4Mi" as a number, else NaN.
function sizeOf(text) {
  const found = /^([\d.]+)(|k|Ki|M|Mi|G|Gi|T)$/.exec(text ?? '');
  return found ? Number(found[1]) * SIZES[found[2]] : NaN;
}
const countsOf = (d, name) => d.map(row => name === USED ? best(row).chips : sizeOf(row.varies[name]));
const resultOf = row => row.goal ?? (STATES[row.state] ?? row.state ?? '') + (row.message && row.state !== 'error' ? ': ' + row.message : '');

function sweepTip(row, key) {
  const [, name, unit] = SWEPT.find(([of]) => of === key), of = best(row);
  return `${pointText(row) || 'the point'}: ${say(unit, of[key])} ${name}, ${of.plan ?? ''}${of.chips ? ` on ${say('count', of.chips)} chips` : ''}`;
}
// Which figure, along which option, by which: lines, bars or a map.
function sweepPicture(d) {
  const found = d.filter(row => row.best), options = optionsOf(d);
  if (!found.length) return null;
  const figures = SWEPT.filter(([key]) => found.some(row => typeof row.best[key] === 'number') && (key !== 'chips' || options.length));
  if (!figures.length) return null;
  const axes = [...options, ...found.some(row => row.best.chips) && !options.includes('chips') ? [USED] : []];
  const varied = axes.filter(name => new Set(countsOf(found, name).filter(Number.isFinite)).size > 1), machine = varied.find(name => name === USED || OF_MACHINE.includes(name));
  const rest = along => options.filter(name => name !== along && !(along === USED && OF_MACHINE.includes(name)));
  const state = { figure: figures[0][0], along: machine ?? varied[0] ?? axes[0], by: '', as: '' };
  const place = el('div');
  const forms = () => [...varied.includes(state.along) ? [['lines', 'lines']] : [], ['bars', 'bars'], ...options.length > 1 && state.along !== USED ? [['map', 'a map']] : []];
  function draw() {
    if (!forms().some(([form]) => form === state.as)) state.as = forms()[0][0];
    const others = rest(state.along);
    if (!others.includes(state.by)) state.by = state.as === 'map' ? others[0] : '';
    const picture = { lines: sweepLines, bars: sweepBars, map: sweepMap }[state.as](found, state, others);
    const pick = choices(state, place, draw);
    place.replaceChildren(el('p', { class: 'choices' }, pick('Show', figures.map(([key, name]) => [key, name]), 'figure'), state.as === 'bars' ? '' : pick('along', axes.map(name => [name, name]), 'along'),
      state.as === 'bars' ? '' : pick(state.as === 'map' ? 'down' : 'a line for each', [...state.as === 'map' ? [] : [['', 'all others']], ...others.map(name => [name, name])], 'by'), pick('as', forms(), 'as')), picture, dataOf(sweepData(found, state)));
  }
  draw();
  return section('points', 'The points', paragraph(d[0].words?.summary ?? sweepCounts(d)), figure('Each point at its best plan', place));
}
function sweepCounts(d) {
  return Object.entries(STATES).map(([state, name]) => [d.filter(row => row.state === state).length, name]).filter(([count]) => count).map(([count, name]) => `${count} ${name}`).join(', ') + '.';
}
function sweepLines(found, state, others) {
  const [key, name, unit] = SWEPT.find(([of]) => of === state.figure), names = state.by ? [state.by] : others, lines = new Map();
  for (const row of found) {
    const x = state.along === USED ? best(row).chips : sizeOf(row.varies[state.along]), y = best(row)[key], label = groupText(row, names) || name;
    if (!Number.isFinite(x) || typeof y !== 'number') continue;
    lines.set(label, [...lines.get(label) ?? [], { x, y, tip: sweepTip(row, key) }]);
  }
  const all = [...lines].map(([label, points]) => ({ name: label, line: !state.by || names.length === others.length, points: points.sort((a, b) => a.x - b.x) }));
  return all.length ? plot(all, { name: `${name} along ${state.along}`, x: { name: state.along, unit: state.along === 'batch' || state.along === 'seq' ? 'short' : 'count', log: true }, y: { name, unit, zero: key === 'mfu' }, ticks: true }) : '';
}
function sweepData(found, state) {
  const [key, name, unit] = SWEPT.find(([of]) => of === state.figure);
  return table(`${name} of each point`, [['point', row => pointText(row) || 'the point'], [name, 'best.' + key, unit], ['plan', 'best.plan']], found);
}
const BARS_MOST = 40;
function sweepBars(found, state) {
  const [key, , unit, more] = SWEPT.find(([of]) => of === state.figure);
  const rows = found.filter(row => best(row)[key] > 0), order = rows.slice().sort((a, b) => (best(a)[key] - best(b)[key]) * (more ? -1 : 1)).slice(0, BARS_MOST);
  return el('div', {}, rows.length > BARS_MOST ? paragraph(`The best ${BARS_MOST} of ${rows.length}; the table has all.`) : '',
    bars(order.map(row => ({ label: pointText(row) || 'the point', parts: [[sweepTip(row, key), best(row)[key], 'matmul', best(row).plan]], plain: true })), unit, { legend: false }));
}
// A cell for each pair of values: of all its points the best one.
function sweepMap(found, state) {
  const [key, name, unit, more] = SWEPT.find(([of]) => of === state.figure), known = found.filter(row => typeof best(row)[key] === 'number');
  const values = of => [...new Set(found.map(row => row.varies[of] ?? ''))];
  const all = known.map(row => best(row)[key]), low = Math.min(...all), high = Math.max(...all), ratio = low > 0 && high / low > 20;
  const share = value => high === low ? 1 : ratio ? Math.log(value / low) / Math.log(high / low) : (value - low) / (high - low);
  const cell = (x, y) => {
    const rows = known.filter(row => row.varies[state.along] === x && row.varies[state.by] === y).sort((a, b) => (best(a)[key] - best(b)[key]) * (more ? -1 : 1));
    if (!rows.length) return el('td', { class: 'n none' }, 'none');
    const value = best(rows[0])[key], tint = Math.round(8 + 52 * (more ? share(value) : 1 - share(value)));
    return el('td', { class: 'n', tabindex: '0', style: { background: `color-mix(in srgb, var(--p-matmul) ${tint}%, var(--paper))` }, 'data-tip': sweepTip(rows[0], key) + (rows.length > 1 ? `; the best of ${rows.length}` : '') }, say(unit, value));
  };
  return el('div', { class: 'wide', ...region(`${name}: ${state.along} against ${state.by}`) }, el('table', { class: 'map' }, el('caption', {}, el('span', {}, `${name}; the stronger the colour, the better${known.length > values(state.along).length * values(state.by).length ? ', the best of the other options' : ''}`)),
    el('thead', {}, el('tr', {}, el('th', { scope: 'col' }, `${state.by} \\ ${state.along}`), values(state.along).map(x => el('th', { scope: 'col', class: 'n' }, x)))),
    el('tbody', {}, values(state.by).map(y => el('tr', {}, el('th', { scope: 'row' }, y), values(state.along).map(x => cell(x, y)))))));
}

// Of each training (model, tokens, sequences) what nothing beats in time and cost; of serving in both rates.
function sweepFront(d) {
  const kinds = [['expected_cost_usd', 'expected_seconds', { name: 'cost of the training, with failures', unit: 'usd', log: true }, { name: 'days', unit: 'number', log: true }, 1 / 86400, 'Time against cost, on demand', false],
    ['usd', 'seconds', { name: 'cost of a step', unit: 'usd' }, { name: 'step', unit: 'seconds' }, 1, 'Time against cost', false],
    ['tokens_per_second_per_user', 'tokens_per_second_per_chip', { name: 'tokens per second, a user', unit: 'number', log: true }, { name: 'tokens per second, a chip', unit: 'number', log: true }, 1, 'The rate of a user against that of a chip', true]];
  const kind = kinds.find(([x, y]) => d.filter(row => best(row)[x] > 0 && best(row)[y] > 0).length > 1);
  if (!kind) return null;
  const [xKey, yKey, x, y, scale, heading, more] = kind, rows = d.filter(row => best(row)[xKey] > 0 && best(row)[yKey] > 0), groups = new Map();
  for (const row of rows) {
    const name = more ? 'every point' : groupText(row, TRAINED) || 'every point';
    groups.set(name, [...groups.get(name) ?? [], { x: best(row)[xKey], y: best(row)[yKey] * scale, row, name, tip: `${pointText(row) || 'the point'}, ${best(row).plan}` }]);
  }
  const marked = d.some(row => row.front !== undefined), sides = points => more ? points.map(one => ({ ...one, x: -one.x, y: -one.y })) : points;
  const on = points => marked ? points.filter(one => one.row.front) : points.filter((_, i) => front(sides(points)).some(one => one.row === points[i].row));
  const all = [...groups].map(([name, points]) => ({ name, points, front: on(points) }));
  const series = all.map(({ name, points, front: best_ }) => ({ name, line: best_.length > 1, step: !more, through: best_, points: points.map(one => ({ ...one, small: !best_.includes(one) })) }));
  return section('front', heading, paragraph(more ? 'A line joins what no point beats in both.' : `Large marks on a line: no point that trains the same is as cheap and as fast.${xKey === 'expected_cost_usd' ? ' Failures are counted as far as they are known.' : ''}`),
    figure(heading, plot(series, { name: heading, x, y }), table('The points, and what is on the front', [['of', 'name'], ['point', one => pointText(one.row) || 'the point'], [x.name, 'x', x.unit], [y.name, 'y', y.unit], ['plan', one => best(one.row).plan], ['on the front', one => one.on]],
      all.flatMap(({ points, front: best_ }) => points.map(one => ({ ...one, on: best_.includes(one) ? 'yes' : 'no' }))))));
}
function sweepTable(d) {
  const options = optionsOf(d), errors = [...new Set(d.filter(row => row.state === 'error').map(row => row.message))];
  const figures = SWEPT.filter(([key]) => d.some(row => best(row)[key] !== undefined && best(row)[key] !== null && !(key === 'chips' && String(best(row).chips) === row.varies.chips)));
  const open = row => row.report ? el('button', { type: 'button', class: 'copy', 'aria-label': 'Open the report of ' + (pointText(row) || 'the point'), onclick: () => show(row.report, { back: () => show(d) }) }, 'open') : '';
  return section('table', 'The table', table('Every point of the grid with its best plan', [...options.map(name => [name, row => row.varies[name]]), ['best plan', 'best.plan'], ['engine', 'best.engine'], ['trainer', 'best.trainer'], ['rollout', 'best.rollout'],
    ['result', row => row.state === 'error' ? `error ${errors.indexOf(row.message) + 1}` : resultOf(row)], ['report', open], ['machine', 'best.machine'], ...figures.map(([key, name, unit]) => [name, 'best.' + key, unit]), ['HBM limit', 'best.hbm_limit_bytes', 'bytes']], d, { drop: true }),
    errors.length ? [el('h3', {}, 'Errors'), el('ol', {}, errors.map(text => el('li', {}, text)))] : '', list([...new Set(d.map(row => row.warning).filter(text => text))]));
}
function sweepBasis(d) {
  const first = d.find(row => row.report)?.report, prices = [...new Set(d.flatMap(row => [best(row).price_source, best(row).reserved_price_source]).filter(text => text))];
  return section('basis', 'Basis', code('This page again:', d[0].words?.again), prices.length ? [el('h3', {}, 'Prices'), list(prices)] : '',
    first ? folded('Options of the first point', table('Every option in force that can change the answer, defaults included', [['option', ([name]) => '--' + name.replaceAll('_', '-')], ['value', ([, value]) => typeof value === 'object' ? JSON.stringify(value) : typeof value === 'boolean' ? SAY.yes(value) : String(value)]], Object.entries(first.request ?? {}))) : '');
}
const sweepView = d => [sweepPicture(d) ?? section('points', 'The points', paragraph(d[0].words?.summary ?? sweepCounts(d))), ...[sweepFront, sweepTable, sweepBasis].map(part => () => part(d))];
