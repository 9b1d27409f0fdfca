// SPDX-License-Identifier: GPL-3.0-or-later
// Measured runs replayed: what `validate` prints of training, of serving and of RL.
'use strict';

// [name, measured, predicted, unit]
const MEASURED = [['step', 'measured_seconds', 'predicted_seconds', 'seconds'], ['HBM', 'memory_measured_bytes', 'memory_predicted_bytes', 'bytes'], ['time of a token', 'tpot_measured_seconds', 'tpot_predicted_seconds', 'seconds'], ['first token', 'ttft_measured_seconds', 'ttft_predicted_seconds', 'seconds'],
  ['output tokens/s', 'output_tokens_per_second_measured', 'output_tokens_per_second_predicted', 'number']];
const LABELS = [['source', 'source'], ['chip', 'chip'], ['framework', 'framework'], ['stack', 'software'], ['kind', 'kind of plan'], ['mode', 'mode'], ['group', 'group'], ['model', 'model']];
const missOf = (run, [, measured, predicted]) => run[predicted] / run[measured] - 1;
const quantile = (sorted, share) => sorted.length ? sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] : null;
const labelsOf = d => LABELS.filter(([key]) => new Set(d.runs.map(run => run[key])).size > 1 && d.runs.some(run => run[key]));
// Errors below 5% to scale, larger ones by their logarithm.
const bent = error => Math.sign(error) * Math.log1p(Math.abs(error) / 0.05);
const ERROR_TICKS = [-0.9, -0.5, -0.2, -0.05, 0, 0.05, 0.2, 0.5, 1, 3, 10];
const SERIES_MOST = 6, STRIPS_MOST = 60;

// The largest groups have a series each, the others one.
function groupsOf(runs, key) {
  const all = new Map();
  for (const run of runs) all.set(run[key] || 'not said', [...all.get(run[key] || 'not said') ?? [], run]);
  return [...all].sort((a, b) => b[1].length - a[1].length);
}
function scatter(d, what, by, p90) {
  const [name, measured, predicted, unit] = what, runs = d.runs.filter(run => run[measured] > 0 && run[predicted] > 0), groups = by ? groupsOf(runs, by) : [['every run', runs]];
  const tip = run => `${run.id}: ${say('change', missOf(run, what))}, ${run.plan ?? run.layout ?? ''}${run.bound_by ? ', bound by ' + run.bound_by : ''}`;
  const shown = groups.length > SERIES_MOST ? [...groups.slice(0, SERIES_MOST - 1), [`${groups.length - SERIES_MOST + 1} others`, groups.slice(SERIES_MOST - 1).flatMap(([, rest]) => rest)]] : groups;
  const ends = [Math.min(...runs.map(run => run[measured])), Math.max(...runs.map(run => run[measured]))];
  const line = (label, factor, dash) => ({ name: label, line: true, bare: true, dash, ink: true, still: true, points: ends.map(x => ({ x, y: x * factor })) });
  return plot([...shown.map(([label, of]) => ({ name: label, points: of.map(run => ({ x: run[measured], y: run[predicted], small: true, tip: tip(run) })) })), line('as measured', 1), ...p90 > 0 && p90 < 1 ? [line(`nine of ten runs lie within ${say('share', p90)}`, 1 + p90, true), { ...line('', 1 - p90, true), unnamed: true }] : []],
    { name: `Predicted against measured ${name}`, x: { name: `measured ${name}`, unit, log: true }, y: { name: `predicted ${name}`, unit, log: true } });
}
// A row for each group, a stroke for each run at its error; behind them what predictions call likely.
function strips(d, what, by) {
  const [, measured, predicted] = what, runs = d.runs.filter(run => run[measured] > 0 && run[predicted] > 0), groups = by ? groupsOf(runs, by) : [['every run', runs]];
  const errors = runs.map(run => missOf(run, what)), low = bent(Math.min(-0.2, ...errors) * 1.1), high = bent(Math.max(0.2, ...errors) * 1.1), x = error => (100 * (Math.max(low, Math.min(high, bent(error))) - low) / (high - low)).toFixed(2) + '%';
  const mean = (of, key) => of.reduce((sum, run) => sum + run[predicted] / run[key] - 1, 0) / of.length;
  const row = ([name, of]) => {
    const sorted = of.map(run => Math.abs(missOf(run, what))).sort((a, b) => a - b), likely = measured === 'measured_seconds' && of.every(run => run.likely_low_seconds > 0 && run.likely_high_seconds > 0);
    return el('div', { class: 'row' }, el('span', { class: 'label' }, `${name}, ${of.length}`), el('div', { class: 'bar' },
      likely ? el('b', { class: 'band', style: { left: x(mean(of, 'likely_high_seconds')), width: `calc(${x(mean(of, 'likely_low_seconds'))} - ${x(mean(of, 'likely_high_seconds'))})` }, 'data-tip': `${name}: likely from ${say('change', mean(of, 'likely_high_seconds'))} to ${say('change', mean(of, 'likely_low_seconds'))}` }) : '',
      el('b', { class: 'zero', style: { left: x(0) } }), of.map(run => el('b', { class: 'run', style: { left: x(missOf(run, what)) }, 'data-tip': `${run.id}: ${say('change', missOf(run, what))}` }))), el('span', { class: 'sum' }, say('share', quantile(sorted, 0.5))));
  };
  // Labels of an axis that would lie on each other are left out, those nearest to nothing first kept.
  const kept = [];
  for (const error of ERROR_TICKS.slice().sort((a, b) => Math.abs(a) - Math.abs(b))) if (bent(error) >= low && bent(error) <= high && kept.every(other => Math.abs(bent(other) - bent(error)) > (high - low) / 6)) kept.push(error);
  return el('div', { class: 'bars strips', ...walked('Errors') }, el('div', { class: 'row ticks' }, el('span', { class: 'label' }, 'predicted over measured'), el('div', { class: 'bar' }, kept.map(error => el('b', { style: { left: x(error) } }, error === 0 ? '0' : (error > 0 ? '+' : '−') + Math.abs(100 * error) + '%'))), el('span', { class: 'sum' }, 'median')),
    groups.slice(0, STRIPS_MOST).map(row), groups.length > STRIPS_MOST ? paragraph(`and ${groups.length - STRIPS_MOST} more`) : '');
}
function errorsTable(d, what, by) {
  const given = what[1] === 'measured_seconds' && d.summary?.by?.[by], name = LABELS.find(([key]) => key === by)?.[1] ?? 'runs';
  const rows = given && Object.values(given).every(one => typeof one.median === 'number') ? Object.entries(given).map(([of, one]) => ({ name: of || 'not said', ...one })) : groupsOf(d.runs.filter(run => run[what[1]] > 0), by).map(([of, runs]) => {
    const all = runs.map(run => missOf(run, what)), sorted = all.map(Math.abs).sort((a, b) => a - b), bias = all.sort((a, b) => a - b);
    return { name: of, runs: runs.length, median: quantile(sorted, 0.5), p90: quantile(sorted, 0.9), worst: sorted.at(-1), bias: quantile(bias, 0.5) };
  });
  return table('Errors by ' + name, [[name, 'name'], ['runs', 'runs', 'count'], ['median', 'median', 'share'], ['p90', 'p90', 'share'], ['worst', 'worst', 'share'], ['bias', 'bias', 'change'], ['inside likely', 'inside_likely', 'share'], ['rate-only median', 'baseline.median', 'share'], ['rate-only p90', 'baseline.p90', 'share'], ['worst run', 'worst_id']], rows, { drop: true });
}
function validatePicture(d) {
  const shown = MEASURED.filter(([, measured]) => d.runs.some(run => run[measured] > 0)), labels = labelsOf(d);
  if (!shown.length) return section('runs', 'All runs', paragraph(d.words?.headline ?? 'No run was measured.'));
  const state = { what: shown[0][0], by: labels.find(([key]) => key === 'chip')?.[0] ?? labels[0]?.[0] ?? '' }, place = el('div');
  function draw() {
    const what = shown.find(([name]) => name === state.what), errors = d.runs.filter(run => run[what[1]] > 0).map(run => Math.abs(missOf(run, what))).sort((a, b) => a - b), p90 = quantile(errors, 0.9);
    const pick = choices(state, place, draw);
    place.replaceChildren(el('p', { class: 'choices' }, pick('Show', shown.map(([name]) => [name, name]), 'what'), pick('by', labels, 'by')), figure(`Predicted against measured ${what[0]}`, scatter(d, what, state.by, p90), table(`Measured and predicted ${what[0]}`, [['run', 'id'], ['measured', what[1], what[3]], ['predicted', what[2], what[3]], ['error', run => missOf(run, what), 'change']], d.runs.filter(run => run[what[1]] > 0 && run[what[2]] > 0))),
      figure('Errors of predictions, small ones to scale; the band is what they call likely', strips(d, what, state.by), table('Errors of predictions', [['run', 'id'], ['error', run => missOf(run, what), 'change']], d.runs.filter(run => run[what[1]] > 0 && run[what[2]] > 0))), state.by ? errorsTable(d, what, state.by) : '');
  }
  draw();
  return section('runs', 'All runs', validateTiles(d), paragraph(d.words?.headline), place);
}
function validateTiles(d) {
  const all = d.summary ?? {};
  return tiles([['Runs', say('count', all.runs ?? d.runs.length), d.skipped?.length ? `${say('count', d.skipped.length)} were not replayed` : ''], ['Median error', say('share', all.median), all.p90 === undefined ? '' : `nine of ten within ${say('share', all.p90)}`], ['Bias', all.bias === undefined ? '' : say('change', all.bias), 'the median of predicted / measured − 1'],
    ['Inside likely', say('share', all.inside_likely), 'of the runs'], ['Without the model', say('share', all.baseline?.median), all.baseline ? `from the usual rate of each chip alone; nine of ten within ${say('share', all.baseline.p90)}` : ''], ['HBM', say('share', all.memory?.median), all.memory?.runs ? `median error of ${say('count', all.memory.runs)} runs` : '']]);
}
const runsTable = (caption, runs) => table(caption, [['run', 'id'], ['measured', 'measured_seconds', 'seconds'], ['predicted', 'predicted_seconds', 'seconds'], ['token, measured', 'tpot_measured_seconds', 'seconds'], ['token, predicted', 'tpot_predicted_seconds', 'seconds'], ['first, measured', 'ttft_measured_seconds', 'seconds'], ['first, predicted', 'ttft_predicted_seconds', 'seconds'],
  ['tokens/s', 'output_tokens_per_second_measured', 'number'], ['predicted tokens/s', 'output_tokens_per_second_predicted', 'number'], ['error', 'error', 'change'], ['likely', run => run.likely_low_seconds > 0 ? `${say('seconds', run.likely_low_seconds)} to ${say('seconds', run.likely_high_seconds)}` : null], ['bound by', 'bound_by'], ['plan', 'plan'], ['layout', 'layout'], ['mode', 'mode'], ['software', 'stack'],
  ['odd, or assumed', run => [run.flagged, run.set_aside, run.failed ? 'failed' : '', run.assumed].filter(text => text).join('; ')]], runs, { drop: true });
function validateMemory(d) {
  const memory = d.summary?.memory, stacks = Object.entries(memory?.by_stack ?? {}).map(([name, one]) => ({ name, ...one })), runs = d.runs.filter(run => run.memory_measured_bytes > 0);
  return section('memory', 'Memory', paragraph(d.words?.memory), table('HBM by software', [['software', 'name'], ['runs', 'runs', 'count'], ['median', 'median', 'share'], ['p90', 'p90', 'share'], ['worst', 'worst', 'share'], ['bias', 'bias', 'change']], stacks),
    runs.length ? folded('HBM of every run', table('HBM of every run', [['run', 'id'], ['measured', 'memory_measured_bytes', 'bytes'], ['predicted', 'memory_predicted_bytes', 'bytes'], ['error', run => run.memory_predicted_bytes / run.memory_measured_bytes - 1, 'change'], ['limit', 'memory_limit_bytes', 'bytes'], ['plan', 'plan'], ['software', 'stack']], runs)) : '');
}
const PLANS_LEAST = 10;
function validateOrder(d) {
  const ranking = d.summary?.ranking?.all, cells = ranking?.cells ?? [], large = cells.filter(cell => cell.plans >= PLANS_LEAST), bins = ((d.summary?.ranking?.chances ?? d.summary?.chances)?.bins ?? []).filter(bin => bin.plans > 0);
  const cellsTable = of => table('Order of plans by group', [['model', 'model'], ['chips', cell => `${say('count', cell.chips)} ${cell.hardware}`], ['plans', 'plans', 'count'], ['pairs', 'pairs', 'count'], ['tau', 'tau', 'number'], ['best is behind by', 'distance', 'share']], of);
  return section('order', 'Order of plans', paragraph(d.words?.order), large.length ? cellsTable(large) : '', large.length < cells.length ? folded('All groups', cellsTable(cells)) : '',
    bins.length ? [el('h3', {}, 'Chances of being the best'), paragraph(d.words?.chances), table('Plans by their chance of being the best', [['chance up to', 'chance_up_to', 'share'], ['plans', 'plans', 'count'], ['mean chance', 'mean_chance', 'share'], ['measured best', 'measured_best_share', 'share']], bins)] : '');
}
function validateRuns(d) {
  const known = d.runs.filter(run => typeof run.error === 'number'), reasons = new Map(), WORST = 10;
  for (const run of d.skipped ?? []) reasons.set(run.reason, [...reasons.get(run.reason) ?? [], run.id]);
  return section('every', 'Every run', runsTable('Worst runs', known.slice().sort((a, b) => Math.abs(b.error) - Math.abs(a.error)).slice(0, WORST)), folded('Every run', runsTable('Every run', d.runs)),
    table('Not replayed', [['runs', 'runs', 'count'], ['why', 'why'], ['first of them', 'first']], [...reasons].map(([why, ids]) => ({ runs: ids.length, why, first: ids[0] }))), d.file ? paragraph(`${d.file}, SHA-256 ${d.file_sha256 ?? 'not said'}; profile ${d.profile ?? 'not said'}.`) : '');
}
const validateView = d => [validatePicture(d), ...[validateMemory, validateOrder, validateRuns].map(part => () => part(d))];
