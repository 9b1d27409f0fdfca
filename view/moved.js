// SPDX-License-Identifier: GPL-3.0-or-later
// Two reports side by side: what `diff` prints.
'use strict';

const FIGURES = { step_seconds: 'step', tpot_seconds: 'time of a token', ttft_seconds: 'first token', tokens_per_second_per_user: 'tokens/s of a user', tokens_per_second_per_chip: 'tokens/s of a chip', tokens_per_second: 'tokens/s in all', mfu: 'MFU', hbm_bytes: 'HBM',
  hbm_limit_bytes: 'HBM limit', training_seconds: 'training', cost_usd: 'cost', cost_usd_per_million_output_tokens: '$ a million tokens', tokens_per_hour: 'tokens an hour', usd: 'cost of a step', chips: 'chips' };
const UNIT_OF_FIGURE = { training_seconds: 'duration', tokens_per_second_per_chip: 'number', tokens_per_second_per_user: 'number', tokens_per_second: 'number', tokens_per_hour: 'short' };
const changeOf = (a, b) => typeof a !== 'number' || typeof b !== 'number' ? null : a === b ? 0 : a !== 0 ? b / a - 1 : null;
const movedRows = object => Object.entries(object ?? {}).map(([key, value]) => ({ key, a: value?.a ?? null, b: value?.b ?? null }));
const signed = unit => x => x === 0 ? 'none' : (x > 0 ? '+' : '−') + say(unit, Math.abs(x));
const textsTable = (caption, object) => table(caption, [['what', row => words(row.key)], ['A', row => row.a ?? '-', 'text'], ['B', row => row.b ?? '-', 'text']], movedRows(object));

function movedTiles(d) {
  return tiles(movedRows(d.figures).map(({ key, a, b }) => {
    const unit = UNIT_OF_FIGURE[key] ?? unitOf(key), change = changeOf(a, b);
    return [FIGURES[key] ?? words(key), say(unit, b), a === b ? 'as in A' : `${change === null ? '' : say('change', change) + ', '}from ${say(unit, a)} in A`];
  }));
}
function movedVerdict(d) {
  const side = name => d[name]?.file || d[name]?.of ? paragraph(`${name.toUpperCase()} is ${[d[name].file, d[name].of].filter(text => text).join(': ')}.`) : '';
  return section('moved', 'What moved', d.different ? '' : paragraph('A and B do not differ.'), d.different ? movedTiles(d) : '', side('a'), side('b'), d.causes?.length ? [el('h3', {}, 'Because'), list(d.causes.map(cause => cause.text ?? cause.cause ?? JSON.stringify(cause)))] : '',
    textsTable('The request', d.request));
}
// A sum of A and of B: both in full, then what each part has more or less of in B.
function movedSum(d, key, id, heading, unit) {
  const rows = movedRows(d[key]).map(row => ({ ...row, a: Math.max(0, row.a ?? 0), b: Math.max(0, row.b ?? 0), name: words(row.key) })).filter(row => row.a > 0 || row.b > 0), sum = of => rows.reduce((total, row) => total + row[of], 0);
  if (!rows.length) return null;
  const label = of => { const plan = (d.plans ?? []).find(one => one['rank_' + of] === 1)?.plan; return of.toUpperCase() + (plan ? ': ' + plan : ''); };
  const sorted = rows.slice().sort((x, y) => Math.abs(y.b - y.a) - Math.abs(x.b - x.a)), most = sorted[0], change = changeOf(sum('a'), sum('b'));
  const paint = (row, i) => key === 'memory_bytes' && HELD.find(([, held]) => held === row.key + '_bytes' && d.memory_bytes.kv)?.[2] || paintOf(KERNELS[row.key]?.[1] ?? row.key, i);
  return section(id, heading, paragraph(`A's ${say(unit, sum('a'))} become ${say(unit, sum('b'))} in B${change === null ? '' : `, ${say('change', change)}`}${most.a !== most.b ? `; what moves most is ${most.name}, ${signed(unit)(most.b - most.a)}` : ''}.`),
    pictures(id + '-data', [[heading, bars(['a', 'b'].map(of => ({ label: label(of), parts: rows.map((row, i) => [row.name, row[of], paint(row, i)]) })), unit)],
      ['What B has more or less of than A', tornado(sorted.filter(row => Math.abs(row.b - row.a) > 1e-9 * sum('a')).map(row => ({ label: row.name, sides: [['in B', row.b - row.a, paint(row, rows.indexOf(row)), row.a > 0 ? `× ${digits(row.b / row.a, 3)}` : 'none in A']] })), [], signed(unit))]],
      table(heading, [['part', 'name'], ['A', 'a', unit], ['B', 'b', unit], ['difference', row => signed(unit)(row.b - row.a)], ['B / A', row => row.a > 0 ? row.b / row.a : null, 'number']], [...rows, { name: 'all', a: sum('a'), b: sum('b') }])));
}
function movedPlans(d) {
  const last = of => Math.max(0, ...(d.plans ?? []).map(plan => plan['rank_' + of] ?? 0)), most = { a: last('a'), b: last('b') };
  const move = plan => plan.rank_a && plan.rank_b ? changeOf(plan.step_seconds_a, plan.step_seconds_b) : (plan.rank_a ?? plan.rank_b) > (plan.rank_a ? most.b : most.a) && (plan.rank_a ? most.b : most.a) > 0 ? 'not listed' : plan.rank_a ? 'gone' : 'new';
  const both = (d.plans ?? []).map(plan => ({ ...plan, moved: move(plan) }));
  return section('plans', 'The plans of both', table('Plans, by rank', [['plan', 'plan'], ['in A', 'rank_a'], ['in B', 'rank_b'], ['step A', 'step_seconds_a', 'seconds'], ['step B', 'step_seconds_b', 'seconds'], ['B / A', plan => plan.step_seconds_a > 0 && plan.step_seconds_b > 0 ? plan.step_seconds_b / plan.step_seconds_a : null, 'number'],
    ['change', plan => typeof plan.moved === 'number' ? say('change', plan.moved) : plan.moved]], both));
}
const movedSettings = d => section('settings', 'Settings', textsTable('Settings of the best of each', d.plan), textsTable('The searches', d.search));
const movedView = d => [movedVerdict(d), ...d.different ? [() => movedSum(d, 'terms_seconds', 'step', 'Where a step goes', 'seconds'), () => movedSum(d, 'memory_bytes', 'memory', 'What is in HBM', 'bytes'), () => movedPlans(d)] : [], () => movedSettings(d)];
