// SPDX-License-Identifier: GPL-3.0-or-later
// A measured step, and with a plan what was predicted of it: what `trace` prints.
'use strict';

const COLLECTIVES = [...ROLES, 'collective'];
const termName = term => COLLECTIVES.includes(term) ? 'exposed ' + term : term;
const termPaint = term => ({ collective: 'expert', unplaced: 'backward' }[term] ?? paintOf(term));
const hasPlan = d => d.predicted_step_seconds !== undefined;

// Two bars a row, the upper measured, the lower predicted: full where it is exposed, an outline where it is overlapped.
function pairsOfBars(rows, unit) {
  const most = Math.max(...rows.flatMap(row => row.sides.map(([, all]) => all)));
  if (!(most > 0)) return '';
  const share = value => (100 * value / most).toFixed(3) + '%';
  return el('div', { class: 'bars pairs', ...walked('Measured and predicted') }, rows.map(row => el('div', { class: 'row' }, el('span', { class: 'label' }, row.label), el('div', { class: 'bar' }, row.sides.map(([name, all, shown], side) => {
    const says = `${row.label}, ${name}: ${say(unit, all)}, ${say(unit, shown)} of the step${row.ratio ? '; ' + row.ratio : ''}`, top = (side ? 52 : 0) + '%';
    return all > 0 ? [el('i', { class: 'outline', 'data-tip': says, style: { width: share(all), top } }), el('i', { class: 'paint-' + row.paint + (side ? ' lower' : ''), 'data-tip': says, style: { width: share(Math.min(all, shown)), top } })] : '';
  })), el('span', { class: 'sum' }, row.sides.map(([, all]) => all > 0 ? say(unit, all) : 'none').join(' / '), row.ratio ? el('em', {}, row.ratio) : ''))),
  el('ul', { class: 'legend' }, el('li', {}, 'above: measured'), el('li', {}, 'below, paler: predicted'), el('li', {}, 'an outline: overlapped, not in the step')));
}

function traceTiles(d) {
  const ratio = hasPlan(d) && d.predicted_step_seconds > 0 ? `the plan predicts ${say('seconds', d.predicted_step_seconds)} (${say('change', d.step_seconds / d.predicted_step_seconds - 1)})` : '';
  const devices = d.devices ?? [], peak = Math.max(...devices.map(one => one.peak_bytes ?? -1)), slow = d.matched?.slowest_rank, late = devices.find(one => (one.rank ?? one.device) === slow);
  return tiles([['Step', say('seconds', d.step_seconds), ratio], [devices.length === 1 ? 'Device' : 'Devices', devices.length ? String(devices.length) : '', devices.length ? `${devices[0].steps_used} of ${devices[0].steps} steps of the first count` : ''],
    ['Assigned', say('share', d.placed_share), 'of the kernel time has a term'],
    ['Peak memory', peak >= 0 ? say('bytes', peak) : '', d.predicted_peak_bytes ? `the plan predicts ${say('bytes', d.predicted_peak_bytes)}` : ''],
    ['Slowest rank', slow === undefined ? '' : `rank ${slow}`, late ? `others wait ${say('seconds', late.caused_wait_seconds)} for it over the whole trace` : '']]);
}
function termsTable(d) {
  const planned = hasPlan(d);
  return table('Terms', [['term', 'term'], ['measured', 'measured_seconds', 'seconds'], ...planned ? [['predicted', 'predicted_seconds', 'seconds'], ['ratio', row => row.predicted_seconds > 0 && row.measured_seconds > 0 ? row.measured_seconds / row.predicted_seconds : null, 'number']] : [],
    ['exposed', 'exposed_measured_seconds', 'seconds'], planned ? ['exposed, predicted', 'exposed_predicted_seconds', 'seconds'] : ['of the step', row => row.exposed_measured_seconds / d.step_seconds, 'share'], ['transfer', 'transfer_seconds', 'seconds'],
    ['sends', 'bytes_per_second', 'byte_rate'], ['the plan sends', 'predicted_bytes_per_second', 'byte_rate']], d.terms, { drop: true });
}
function traceResult(d) {
  if (!d.terms?.length) return d.logs ? section('result', 'What was measured', tracesLogs(d)) : null;
  const planned = hasPlan(d), rows = d.terms.filter(row => row.measured_seconds > 0 || row.predicted_seconds > 0).map(row => ({ label: row.term, paint: termPaint(row.term),
    ratio: row.predicted_seconds > 0 && row.measured_seconds > 0 ? '× ' + digits(row.measured_seconds / row.predicted_seconds, 3) : planned && row.predicted_seconds > 0 ? 'not in the trace' : planned ? 'not in the plan' : '',
    sides: [['measured', row.measured_seconds, row.exposed_measured_seconds], ...planned ? [['predicted', row.predicted_seconds ?? 0, row.exposed_predicted_seconds ?? 0]] : []] }));
  return section('result', planned ? 'Measured and predicted' : 'What was measured', traceTiles(d), paragraph(d.words?.summary), paragraph(d.plan ? `Plan ${d.plan_rank}: ${d.plan}` : ''),
    planned ? [el('h3', {}, 'Largest differences'), d.differences?.length ? el('ol', {}, d.differences.map(text => el('li', {}, text))) : paragraph('No term differs by more than 0.5% of the step.')] : '',
    el('h3', {}, 'Term by term'), figure(planned ? 'Each term, measured above predicted' : 'Each term', pairsOfBars(rows, 'seconds'), termsTable(d)),
    d.stages?.length ? [el('h3', {}, 'Stage by stage'), table('Stages', [['stage', 'stage'], ['ranks', 'ranks', 'count'], ['computation', 'measured.compute_seconds', 'seconds'], ['predicted', 'predicted.compute_seconds', 'seconds'], ['bubble', 'measured.bubble_seconds', 'seconds'], ['predicted bubble', 'predicted.bubble_seconds', 'seconds'],
      ['ratio', row => row.predicted?.bubble_seconds > 0 ? row.measured.bubble_seconds / row.predicted.bubble_seconds : null, 'number'], ['communication', 'measured.communication_seconds', 'seconds']], d.stages)] : '');
}
function tracesTime(d) {
  const t = d.timeline, measured = t?.measured?.rows ?? [], planned = t?.predicted?.rows ?? [];
  if (!measured.length) return null;
  const kinds = measured.map(row => ({ name: row.term, of: termPaint(row.term) }));
  const lane = (of, row, name) => ({ name, kind: row.begin.map(() => kinds.findIndex(kind => kind.name === row.term)), begin_seconds: row.begin.map(x => x * of.seconds / of.moments), end_seconds: row.end.map(x => x * of.seconds / of.moments), share: row.share, microbatch: row.begin.map(() => 0) });
  const rows = measured.flatMap(row => { const plan = planned.find(one => one.term === row.term); return [lane(t.measured, row, row.term), ...plan ? [lane(t.predicted, plan, 'the plan')] : []]; });
  const end = Math.max(t.measured.seconds, t.predicted?.seconds ?? 0), device = d.devices?.find(one => (one.rank ?? one.device) === t.rank);
  return section('time', 'One step in time', paragraph(`One step of rank ${t.rank}, the one nearest to its median${device ? ` of ${say('seconds', device.step_median_seconds)}` : ''}${planned.length ? '; below each term is that of the plan on the same scale' : ''}${t.stages ? `, of stage ${t.stage} of ${t.stages}` : ''}. A bar is as high as the share of its moment in which something of the term ran.${planned.length ? ' A report has the terms and not their order: passes are laid out as the schedule plays them, backward twice as long as forward.' : ''}`),
    figure('One step in time', timeline('One step in time', { kinds, rows }, end), table('How long something of each term ran', [['term', 'term'], ['measured', 'active_seconds', 'seconds'], ['predicted', row => planned.find(one => one.term === row.term)?.active_seconds, 'seconds']], measured, { drop: true })));
}
const RANKS_SHOWN = 32;
function tracesSum(d) {
  const terms = (d.terms ?? []).map(row => row.term), devices = d.devices ?? [];
  const part = value => terms.map(term => [termName(term), value(term) ?? 0, termPaint(term)]), of = key => term => d.terms.find(row => row.term === term)[key];
  const rows = [{ label: 'measured', parts: part(of('exposed_measured_seconds')) }, ...hasPlan(d) ? [{ label: 'predicted', parts: part(of('exposed_predicted_seconds')) }] : [],
    ...devices.length > 1 ? devices.slice(0, RANKS_SHOWN).filter(one => one.terms_seconds).map(one => ({ label: `rank ${one.rank ?? one.device}`, parts: Object.entries(one.terms_seconds).map(([term, seconds]) => [termName(term), seconds, termPaint(term)]) })) : []];
  return section('terms', 'Step breakdown', terms.length ? paragraph(`What the mean step adds up to: an instant belongs to computation if any runs, else to collectives, else to copies, else it is idle.${devices.length > RANKS_SHOWN ? ` The first ${RANKS_SHOWN} of ${devices.length} ranks are shown.` : ''}`) : '', figure('Where a step goes', bars(rows, 'seconds'), table('Where a step goes', [['step', 'label'], ['part', 'part'], ['seconds', 'seconds', 'seconds']], rows.flatMap(({ label, parts: all }) => all.filter(([, seconds]) => seconds > 0).map(([name, seconds]) => ({ label, part: name, seconds }))))),
    table('Devices', [['device', one => `rank ${one.rank ?? one.device}`], ['mean step', 'step_mean_seconds', 'seconds'], ['median', 'step_median_seconds', 'seconds'], ['least', 'step_least_seconds', 'seconds'], ['most', 'step_most_seconds', 'seconds'], ['computation', 'compute_seconds', 'seconds'], ['exposed collectives', 'exposed_communication_seconds', 'seconds'], ['copies and idle', 'idle_seconds', 'seconds'],
      ['waited', 'waited_seconds', 'seconds'], ['made others wait', 'caused_wait_seconds', 'seconds'], ['most memory', 'peak_bytes', 'bytes'], ['file', 'file']], devices, { drop: true }));
}
function tracesLogs(d) {
  const logs = d.logs ?? [], steps = logs.filter(log => log.step_median_seconds > 0);
  return [table('Logs of step times', [['log', 'file'], ['launcher', 'launcher'], ['steps', 'steps', 'count'], ['used', 'steps_used', 'count'], ['median step', 'step_median_seconds', 'seconds'], ['from', 'step_lower_quartile_seconds', 'seconds'], ['to (half of them)', 'step_upper_quartile_seconds', 'seconds'],
    ['over the plan', log => d.predicted_step_seconds > 0 && log.step_median_seconds > 0 ? log.step_median_seconds / d.predicted_step_seconds - 1 : null, 'change'], ['traced step / median', log => d.step_seconds > 0 && log.step_median_seconds > 0 ? d.step_seconds / log.step_median_seconds : null, 'number'], ['tokens/s of a device', 'tokens_per_second_per_device', 'number']], logs, { drop: true }),
  figure('Median steps of the logs', bars(steps.map(log => ({ label: log.file, parts: [['median step', log.step_median_seconds, 'matmul']], likely: [log.step_lower_quartile_seconds, log.step_upper_quartile_seconds] })), 'seconds', { legend: false }), table('Median steps of the logs', [['log', 'file'], ['median step', 'step_median_seconds', 'seconds'], ['from', 'step_lower_quartile_seconds', 'seconds'], ['to', 'step_upper_quartile_seconds', 'seconds']], steps)),
  table('Timers of the logs', [['log', 'log'], ['timer', 'timer'], ['least', 'least_seconds', 'seconds'], ['most', 'most_seconds', 'seconds'], ['predicted', 'predicted_seconds', 'seconds'], ['over the plan', timer => timer.predicted_seconds > 0 ? timer.most_seconds / timer.predicted_seconds - 1 : null, 'change']], logs.flatMap(log => (log.timers ?? []).map(timer => ({ ...timer, log: log.file }))), { drop: true })];
}
function tracesBasis(d) {
  const refit = d.refit;
  return section('basis', 'Basis', (d.words?.basis ?? []).map(paragraph), list(d.notes), table('Kernels without a term', [['name', 'name'], ['seconds', 'seconds', 'seconds'], ['count', 'count', 'count'], ['rank', 'rank']], d.unplaced),
    d.terms && d.logs?.length ? [el('h3', {}, 'Logs'), tracesLogs(d)] : '',
    refit ? [el('h3', {}, 'Refit'), paragraph(`With the new profile (${refit.file}) the plan's step is ${say('seconds', refit.plan_seconds)}; before it was ${say('seconds', refit.before_seconds)}. The best plan is then ${refit.best?.plan}, ${say('seconds', refit.best?.seconds)} a step.`), table('Figures that were fitted', [['figure', 'figure'], ['of', 'of'], ['was', 'was'], ['now', 'now']], refit.figures)] : '',
    d.devices?.length ? folded('Whole files', table('Each file from its first to its last kernel', [['file', 'file'], ...Object.keys(d.devices[0].whole_file ?? {}).map(key => [words(key), 'whole_file.' + key, unitOf(key)])], d.devices)) : '');
}
const traceView = d => [traceResult(d), ...d.terms ? [tracesTime, tracesSum].map(part => () => part(d)) : [], () => tracesBasis(d)];
