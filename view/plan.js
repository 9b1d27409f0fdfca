// SPDX-License-Identifier: GPL-3.0-or-later
// A report of plan and explain.
'use strict';

const ROLES = ['tensor', 'expert', 'sequence', 'fsdp', 'data', 'pipeline'];
const exposed = name => ROLES.includes(name) ? 'exposed ' + name : name;
const numbers = object => Object.entries(object ?? {}).filter(([, value]) => typeof value === 'number');
const percent = x => say('share', x);

// ---- a plan ----

const MEMORY = ['parameters', 'gradients', 'optimizer', 'activations', 'gathered', 'logits', 'transient'];
const memoryParts = of => MEMORY.map((name, i) => [name, of[name + '_bytes'] ?? 0, paintOf(name, i)]);
// Of communication all that a step moves, overlapped or not.
const wholeOf = (d, i, name) => ROLES.includes(name) ? d.plans[i].step.communication_seconds?.[name] : name === 'waits' ? d.words?.plans?.[i]?.host_copies_seconds || null : null;
const labelOf = (d, i) => d.words?.plans?.[i]?.plan ?? d.plans[i].notation;
const isNamed = d => d.words?.command === 'explain';
const rankOf = (d, i) => isNamed(d) ? 'the plan' : `plan ${i + 1}`;
const behind = (d, plan) => plan.ranked_seconds / d.plans[0].ranked_seconds - 1;

function planTiles(d) {
  const plan = d.plans[0], step = plan.step, training = plan.training ?? {}, failures = training.failures, said = d.words?.plans?.[0];
  const fewer = (name, with_, without, unit) => failures && with_ !== undefined ? `${say(unit, without)} without failures` : name;
  return tiles([
    ['Step', say('seconds', step.seconds), step.likely_low_seconds > 0 ? `likely ${say('time', step.likely_low_seconds)} to ${say('time', step.likely_high_seconds)}` : ''],
    ['MFU', percent(plan.mfu), `${say('short', plan.tokens_per_second_per_chip)} tokens/s per chip used`],
    ['HBM per chip', say('bytes', plan.memory.total_bytes), `of ${say('bytes', plan.memory.limit_bytes)} that plans may use${plan.fits_probability < 1 ? `; fits with ${percent(plan.fits_probability)}` : ''}`],
    ['Training', say('duration', failures?.seconds ?? training.seconds), `${say('short', training.tokens)} tokens, ${say('short', failures?.chip_hours ?? training.chip_hours)} chip-hours${failures ? `; ${percent(failures.goodput)} goodput, ${fewer('', failures.seconds, training.seconds, 'duration')} (${say('short', training.chip_hours)} chip-hours)` : ''}`],
    ['Cost', say('usd', failures?.cost_usd ?? training.cost_usd ?? ''), training.cost_usd ? `at ${say('usd', training.cost_usd / training.chip_hours)} per chip-hour${failures ? '; ' + fewer('', failures.cost_usd, training.cost_usd, 'usd') : ''}${training.reserved_cost_usd ? `; ${say('usd', training.reserved_cost_usd)} reserved, without failures` : ''}` : ''],
    ['Limited by', said?.limited_by ?? plan.bound_by, said?.limited_next ? `${said.limited_next} next, ${(100 - 100 * said.limited_next_share).toFixed(0)}% away` : ''],
    isNamed(d) ? ['', ''] : ['Best of all plans', d.search?.proof === 'optimal' ? 'proven' : 'not proven', `${say('count', d.search?.plans_covered)} plans covered${d.search?.gap > 0 ? `; gap ${percent(d.search.gap)}` : ''}`],
  ]);
}
function plansTable(d) {
  const said = i => d.words?.plans?.[i] ?? {}, rows = d.plans.map((plan, i) => ({ ...plan, i }));
  return table(isNamed(d) ? 'The plan, priced as it was named' : 'The best plans, one for each set of degrees and schedule', [
    ...isNamed(d) ? [] : [['rank', 'rank']],
    ['plan', plan => labelOf(d, plan.i) + (said(plan.i).moves ? ', ' + said(plan.i).moves : '')],
    ['step', 'step.seconds', 'seconds'],
    ...isNamed(d) ? [] : [['behind', plan => plan.i === 0 ? null : behind(d, plan), 'change']],
    ['MFU', 'mfu', 'share'], ['HBM', 'memory.total_bytes', 'bytes'], ['HBM limit', plan => plan.memory.limit_bytes === d.plans[0].memory.limit_bytes ? null : plan.memory.limit_bytes, 'bytes'],
    ['exposed', plan => plan.step.exposed_communication_seconds / plan.step.seconds, 'share'],
    ['bubble', plan => plan.axes?.pipeline > 1 ? plan.step.bubble_seconds / plan.step.seconds : null, 'share'],
    ['days', plan => (plan.training?.failures ?? plan.training)?.seconds / 86400, 'number'], ['cost', plan => (plan.training?.failures ?? plan.training)?.cost_usd, 'usd'],
    ['tied', plan => plan.tied && plan.i ? 'tied' : ''], ['proof', plan => plan.proven === undefined ? '' : plan.proven ? 'proven' : `gap ${percent(plan.gap)}`],
    ['kind', plan => (plan.kinds ?? []).join(' ').replaceAll('_', ' ')],
    ['limited by', plan => said(plan.i).limited_by ?? plan.bound_by], ['launched by', plan => said(plan.i).launchers ?? (plan.launchable_by ?? []).join(' ')]],
  rows, { drop: true, row: plan => plan.i === 0 ? { class: 'first' } : {} });
}
function stepPicture(d) {
  const rows = d.plans.slice(0, 10).map((plan, i) => ({ label: isNamed(d) ? labelOf(d, i) : `${i + 1}  ${labelOf(d, i)}`,
    parts: numbers(plan.step.terms_seconds).map(([name, value], n) => [exposed(name), value, paintOf(name, n), wholeOf(d, i, name) ? `${say('seconds', wholeOf(d, i, name))} with the overlapped part` : '']),
    likely: i === 0 && plan.step.likely_high_seconds > 0 ? [plan.step.likely_low_seconds, plan.step.likely_high_seconds] : null }));
  const data = d.plans.slice(0, 10).flatMap((plan, i) => [...numbers(plan.step.terms_seconds).map(([name, value]) => ({ plan: rankOf(d, i), part: exposed(name), seconds: value, share: value / plan.step.seconds, whole: wholeOf(d, i, name) })),
    { plan: rankOf(d, i), part: 'step', seconds: plan.step.seconds, share: 1 }].filter(row => row.seconds > 0 || row.whole > 0));
  const first = d.plans[0].step, name = isNamed(d) ? 'The plan' : 'Plan 1';
  return section('step', 'Step time',
    paragraph(`${name} computes for ${percent(first.compute_seconds / first.seconds)} of its step of ${say('seconds', first.seconds)}; communication that is not overlapped takes ${percent(first.exposed_communication_seconds / first.seconds)}${first.bubble_seconds > 0 ? `, and the bubble takes ${percent(first.bubble_seconds / first.seconds)}` : ''}.`),
    figure('A step by what it is spent on; the bracket below the first bar is its likely range', bars(rows, 'seconds'),
      table('Step time by plan and part', [['plan', 'plan'], ['part', 'part'], ['seconds of the step', 'seconds', 'seconds'], ['share', 'share', 'share'], ['with the overlapped part', 'whole', 'seconds']], data)));
}
function memoryPicture(d) {
  const plan = d.plans[0], limit = plan?.memory.limit_bytes ?? d.shortfall?.limit_bytes, reserve = plan?.memory.reserve_bytes ?? d.shortfall?.memory?.reserve_bytes;
  const moments = plan ? (plan.memory_moments ?? []).map(one => ({ label: one.moment + (one.moment === d.words?.peak ? ' (the peak)' : ''), parts: memoryParts(one), limit }))
    : [...d.shortfall ? [{ label: 'the plan closest to fitting', parts: memoryParts(d.shortfall.memory).some(([, v]) => v > 0) ? memoryParts(d.shortfall.memory) : [['needed', d.shortfall.needed_bytes, 'optimizer']], limit }] : [],
      ...(d.nearest ?? []).map(one => ({ label: 'on ' + one.machine.text, parts: memoryParts(one.memory), limit }))];
  const plans = d.plans.slice(1, 10).map((one, i) => ({ label: `${i + 2}  ${labelOf(d, i + 1)}`, parts: memoryParts(one.memory), limit: one.memory.limit_bytes }));
  const data = [...moments, ...plans].flatMap(row => row.parts.map(([part, bytes]) => ({ row: row.label, part, bytes, share: bytes / row.limit })).concat({ row: row.label, part: 'total', bytes: row.parts.reduce((sum, [, value]) => sum + value, 0), share: row.parts.reduce((sum, [, value]) => sum + value, 0) / row.limit })).filter(row => row.bytes > 0);
  if (!moments.length) return null;
  const detail = Object.entries(plan?.memory_detail ?? {}).flatMap(([row, parts]) => numbers(parts).map(([part, bytes]) => ({ row, part: words(part), bytes })));
  return section('memory', 'Memory',
    paragraph(plan ? `${isNamed(d) ? 'The plan' : 'Plan 1'} takes ${say('bytes', plan.memory.total_bytes)} of the ${say('bytes', limit)} that plans may use (${d.words?.peak ?? 'at its peak'}); ${say('bytes', reserve)} are reserved.`
      : `The plan closest to fitting needs ${say('bytes', d.shortfall?.needed_bytes)} of HBM per chip; plans may use ${say('bytes', limit)}, and ${say('bytes', reserve)} are reserved.`),
    pictures('memory-data', [['HBM per chip at the moments that can peak, against its limit', bars(moments, 'bytes', { limits: true })],
      ['HBM per chip of the other plans, at their peaks', bars(plans, 'bytes', { limits: true })]], table('HBM per chip by row', [['moment, or plan at its peak', 'row'], ['row', 'part'], ['HBM', 'bytes', 'bytes'], ['share of the limit', 'share', 'share']], data)),
    folded('What each row is made of, at the peak', table('HBM at the peak in detail', [['row', 'row'], ['part', 'part'], ['HBM', 'bytes', 'bytes']], detail)));
}
function placementPicture(d) {
  const plan = d.plans[0], axes = plan.machine?.axes ?? [];
  return section('mesh', 'Placement', paragraph(d.words?.placement), figure('Axes of the machine, with the roles that lie on each', axes.length ? mesh(plan) : null,
    table('Axes of the machine, roles from the inside', [['axis', 'name'], ['size', 'size', 'count'], ['is', axis => KIND_OF_AXIS[axis.kind] ?? axis.kind], ['one way', 'bytes_per_second', 'byte_rate'], ['latency', 'latency_seconds', 'seconds'],
      ['roles, neighbours first', axis => rolesText(rolesOf(plan, axis))]], axes)),
  folded('Layout', table('How tensors are sharded and kept', [['tensor', 'tensor'], ['sharding', 'sharding'], ['state', 'state'], ['layers', 'layers', 'count']], plan.layout),
    table('What each choice of the layout is worth', [['of', 'of'], ['chosen', 'chosen'], ['instead', 'instead'], ['layers', 'layers', 'count'], ['seconds', 'seconds', 'seconds'], ['freed', 'freed_bytes', 'bytes'], ['fits without', 'fits_without']], plan.layout_effects, { drop: true })),
  folded('Communication', table('What each group of chips communicates in a step', [['group', 'group'], ['chips', 'chips', 'count'], ['messages', 'messages', 'count'], ['bytes', 'bytes', 'bytes'], ['seconds', 'seconds', 'seconds'], ['exposed', 'exposed_seconds', 'seconds']], plan.communication)),
    d.ops?.length ? folded('Ops', table('Ops of the fullest stage on one chip, over a step without recomputation', [['op', 'op'], ['forward', 'forward_seconds', 'seconds'], ['backward', 'backward_seconds', 'seconds'], ['FLOPs', 'flops', 'flops'], ['bytes', 'hbm_bytes', 'bytes'], ['FLOP/s', 'flops_per_second', 'flop_rate'], ['of the peak', 'peak_share', 'share'], ['a forward kernel alone', op => op.kernel?.flops_per_second, 'flop_rate'], ['which', op => op.kernel && `${op.kernel.name}, ${op.kernel.library}, ${op.kernel.chip}`], ['off by, in the median', op => op.kernel?.median, 'share'], ['bound by', 'bound_by']], d.ops)) : '');
}
function timelinePicture(d) {
  const t = d.timeline;
  if (!t?.rows?.length) return null;
  const m = t.microbatches, end = Math.max(t.step_seconds, t.passes_end_seconds ?? 0);
  const text = t.stages > 1 ? `${t.stages} stages, ${say('count', m)} microbatches, schedule ${t.schedule}${t.virtual_stages > 1 ? ` with ${t.virtual_stages} chunks a stage` : ''}: the passes end after ${say('seconds', t.passes_end_seconds)} of a step of ${say('seconds', t.step_seconds)}.${t.played_microbatches < m ? ` ${t.played_microbatches} microbatches are played, as the others repeat them; the row of the step has their time in one bar.` : ''}${t.stages > t.rows.length ? ' The first and the last 8 stages are shown.' : ''}`
    : `${say('count', m)} microbatch${m === 1 ? '' : 'es'}, one after the other; after its compute, each waits for its exposed communication, while overlapped communication runs alongside the compute.`;
  const stages = t.stages > 1 ? table('Stages', [['stage', 'name'], ['busy', 'busy_seconds', 'seconds'], ['share', row => row.busy_seconds / t.passes_end_seconds, 'share'], ['idle', 'idle_seconds', 'seconds'], ['exchange', 'exchange_seconds', 'seconds'], ['reduction', 'reduction_seconds', 'seconds'],
    ['in flight', 'microbatches_in_flight'], ['peak HBM', 'peak_bytes', 'bytes']], t.rows.filter(row => row.busy_seconds))
    : table('A microbatch', [['pass', 'pass'], ['compute', 'compute', 'seconds'], ['share', row => row.compute / (row.compute + row.exposed), 'share'], ['exposed', 'exposed', 'seconds']], ['forward', 'backward'].map(pass => ({ pass, compute: t[pass + '_compute_seconds'], exposed: t[pass + '_exposed_seconds'] })));
  return section('timeline', 'Timeline', paragraph(text + (t.left_out_microbatches > 0 ? ` The ${say('count', t.left_out_microbatches)} in the middle are left out.` : '')),
    figure('One step', timeline('One step', t, end), [stages, timelineTable('What rows are busy with', t, end)]),
    t.layer ? figure('One layer of one microbatch, op by op: forward, then backward', timeline('One layer', t.layer, t.layer.end_seconds), table('Ops of a layer', [['op', 'name'], ['row', 'row'], ['pass', 'pass'], ['seconds', 'seconds', 'seconds'], ['share', 'share', 'share']],
      t.layer.rows.flatMap(row => row.kind.map((kind, i) => ({ name: t.layer.kinds[kind].name, row: row.name, pass: row.begin_seconds[i] < t.layer.forward_end_seconds ? 'forward' : 'backward', seconds: row.end_seconds[i] - row.begin_seconds[i], share: (row.end_seconds[i] - row.begin_seconds[i]) / t.layer.end_seconds }))))) : null);
}
const leftOut = count => count > 0 ? ` ${count} search${count > 1 ? 'es were' : ' was'} not made: -v makes those that take no more work than the plan did, --sensitivity all makes all.` : '';
// On the front lies what nothing beats in both.
const front = points => points.filter((a, i) => !points.some((b, j) => b.x <= a.x && b.y <= a.y && (b.x < a.x || b.y < a.y || j < i)));
function paretoPicture(d) {
  const around = d.around, first = d.plans[0];
  const plans = d.plans.map((plan, i) => ({ x: plan.memory.total_bytes, y: plan.step.seconds, tip: `${rankOf(d, i)}, ${labelOf(d, i)}` }));
  const less = (around?.less_memory ?? []).slice(1).filter(one => one.found).map(one => ({ x: one.memory_bytes, y: one.step_seconds, tip: one.plan }));
  const chips = (around?.scaling ?? []).filter(one => one.found && one.batch_factor === 1).map(one => ({ x: one.chips, y: one.step_seconds, tip: one.machine_factor === 1 ? `plan 1, ${one.plan}` : one.plan, factor: one.machine_factor }));
  if (plans.length + less.length < 2 && chips.length < 2) return null;
  const memory = [...plans, ...less], least = memory.reduce((a, b) => b.x < a.x ? b : a), fewest = chips[0], most = chips.at(-1);
  const none = (around?.less_memory ?? []).slice(1).filter(one => !one.found && !one.cut_short);
  const text = `The plan found with the least memory takes ${say('bytes', least.x)}, in steps of ${say('seconds', least.y)} (${say('change', least.y / first.step.seconds - 1)}).${none.length ? ` If plans may use only ${say('bytes', none[0].limit_bytes)}, none fits.` : ''}${chips.length > 1 ? ` With the same batch, ${say('count', fewest.x)} chips take steps of ${say('seconds', fewest.y)}, and ${say('count', most.x)} chips take ${say('seconds', most.y)}.` : ''}${leftOut(around?.searches_left_out?.less_memory)}`;
  const draw = (name, shown, others, all, x) => plot([{ name: 'the front', points: front(all), line: true, step: true, bare: true }, { name: shown[0], points: shown[1] }, { name: others[0], points: others[1] }], { name, x, y: { name: 'step', unit: 'seconds' }, ticks: true });
  return section('pareto', 'Less memory, fewer chips', paragraph(text), figure('The front of step time against memory, and against chips', el('div', { class: 'plots' },
    draw('Time against memory', ['plans of this report', plans], ['best with less memory', less], memory, { name: 'HBM per chip', unit: 'bytes' }),
    chips.length > 1 ? draw('Time against chips', ['plan 1', chips.filter(one => one.factor === 1)], ['best on other machines', chips.filter(one => one.factor !== 1)], chips, { name: 'chips', unit: 'count', log: true }) : ''),
  table('Points', [['against', 'against'], ['is', row => say(row.unit, row.x)], ['step', 'y', 'seconds'], ['plan', 'tip'], ['on the front', row => row.on ? 'yes' : 'no']],
    [[memory, 'memory', 'bytes'], [chips, 'chips', 'count']].flatMap(([points, against, unit]) => points.map(one => ({ ...one, against, unit, on: front(points).includes(one) }))))));
}
function scalingPicture(d) {
  const all = d.around?.scaling ?? [], found = all.filter(one => one.found);
  if (found.length < 2) return d.around?.searches_left_out?.scaling > 0 ? section('scaling', 'Other machines and batches', paragraph(leftOut(d.around.searches_left_out.scaling).trim())) : null;
  const batches = [...new Set(found.map(one => one.batch_factor))], same = found.filter(one => one.batch_factor === 1), least = same[0] ?? found[0], most = same.at(-1) ?? found.at(-1), one = same.find(point => point.machine_factor === 1);
  const [, size, name] = TIMES.find(([of]) => Math.max(...found.map(p => p.training_seconds)) >= of) ?? [1, 1, 'seconds'];
  const tipOf = p => `${p.machine}: steps of ${say('seconds', p.step_seconds)}, ${percent(p.mfu)} MFU, ${p.plan}`;
  const lines = y => batches.map(batch => { const points = found.filter(p => p.batch_factor === batch); return { name: `batch ${say('short', points[0].tokens)}`, line: true, points: points.map(p => ({ x: p.chips, y: y(p), tip: tipOf(p) })) }; });
  const ideal = one ? [{ name: 'linear scaling from plan 1', line: true, dash: true, bare: true, points: same.map(p => ({ x: p.chips, y: one.training_seconds * one.chips / p.chips / size, tip: 'linear scaling' })) }] : [];
  const x = { name: 'chips', unit: 'count', log: true };
  return section('scaling', 'Other machines and batches',
    paragraph(`${say('short', d.plans[0].training.tokens)} tokens take ${say('duration', least.training_seconds)} on ${say('count', least.chips)} chips${most !== least ? ` and ${say('duration', most.training_seconds)} on ${say('count', most.chips)}, which is ${percent(least.training_seconds * least.chips / most.chips / most.training_seconds)} of linear scaling` : ''}, with the batch as requested. Each point is a search of its own, on machines like plan 1's.${d.around.thin ? ' The search is large, so fewer points were searched.' : ''}${leftOut(d.around.searches_left_out?.scaling)}`),
    figure('The whole training, and MFU, against chips', el('div', { class: 'plots' }, plot([...lines(p => p.training_seconds / size), ...ideal], { name: 'The whole training', x, y: { name, unit: 'number' }, ticks: true }), plot(lines(p => p.mfu), { name: 'MFU', x, y: { name: 'MFU', unit: 'share', zero: true }, ticks: true })),
      table('Other machines and batches', [['against plan 1', p => `machine x ${p.machine_factor}, batch x ${p.batch_factor}`], ['chips', 'chips', 'count'], ['tokens a step', 'tokens', 'count'], ['step', 'step_seconds', 'seconds'], ['MFU', 'mfu', 'share'], ['HBM', 'memory_bytes', 'bytes'], ['training', 'training_seconds', 'duration'], ['best plan', p => p.found ? p.plan : p.cut_short ? 'the search ended early' : 'no plan fits']], all)));
}
const effect = move => move.relative ?? move.plan_1_relative;
function outcome(move) {
  if (move.basis === 'plans') return move.changed ? `of the plans here ${move.winner} leads` : 'of the plans here plan 1 leads';
  if (move.basis !== 'search') return move.plan_1_fits ? 'not searched' : 'plan 1 does not fit unchanged';
  return !move.found ? 'no plan fits' : move.changed ? `${move.winner} wins` : 'plan 1 stays';
}
function sensitivityPicture(d) {
  const figures = (d.around?.figures ?? []).map(one => ({ ...one, most: Math.max(...one.moves.map(move => Math.abs(effect(move)))) })).sort((a, b) => b.most - a.most);
  if (!figures.length) return null;
  const moves = figures.flatMap(one => one.moves), searched = moves.filter(move => move.basis === 'search'), wins = move => move.basis === 'search' && (move.changed || !move.found);
  const changed = figures.filter(one => one.moves.some(move => move.basis === 'search' && move.changed)), rest = moves.filter(move => move.basis === 'plans').length;
  const side = move => move.factor < 1 ? '-10%' : '+10%';
  const rows = of => figures.filter(one => one.of === of).slice(0, 14).map(one => {
    const other = one.moves.filter(move => wins(move) || move.basis === 'plans' && move.changed).map(side);
    return { label: one.name, sides: one.moves.map(move => [side(move), effect(move), move.factor < 1 ? 'tensor' : 'attention', outcome(move)]), mark: other.length ? 'another plan wins at ' + other.join(', ') : '' };
  });
  const ends = [['tensor', 'figure −10%'], ['attention', 'figure +10%']];
  return section('sensitivity', 'Sensitivity',
    paragraph(`${searched.length ? `Of ${searched.length} answers with one figure 10% lower or higher, plan 1 stays the best in ${searched.filter(move => !move.changed).length}${changed.length ? `; another plan wins if one of these changes: ${changed.map(one => one.name).join(', ')}` : ''}. ` : ''}The step depends most on ${figures[0].name}: a change of 10% is worth up to ${percent(figures[0].most)}.${rest ? ` ${rest} ${searched.length ? 'further ' : ''}changes were computed for the plans of this document only.` : ''}${leftOut(d.around.searches_left_out?.figures)}`),
    pictures('sensitivity-data', [['The best step when a figure of the chip is a tenth lower or higher', tornado(rows('hardware'), ends)], ['The same for figures of the profile', tornado(rows('profile'), ends)]],
      table('Each figure a tenth lower and higher', [['figure', 'name'], ['of', 'of'], ...[0, 1].flatMap(i => [[`${i ? '+10%' : '−10%'}: best step`, one => effect(one.moves[i]), 'change'], ['plan 1 as it is', one => one.moves[i].plan_1_fits ? one.moves[i].plan_1_relative : 'does not fit', 'change'], ['winner', one => outcome(one.moves[i])]])], figures)));
}
function missesPart(d) {
  const would = miss => !miss.figure ? 'no single figure between half and twice its value' : `${miss.figure} ${digits(100 * Math.abs(miss.factor - 1), 3)}% ${miss.factor > 1 ? 'higher' : 'lower'}${miss.other_figures > 0 ? ` (${miss.other_figures} other change${miss.other_figures === 1 ? '' : 's'} would do)` : ''}`;
  const misses = (d.around?.near_misses ?? []).filter(miss => d.plans[miss.rank - 1]), closest = d.search?.certificate?.closest_cut_tuples ?? d.search?.closest_cut_tuples ?? [];
  return section('misses', 'Near misses', misses.length || closest.length ? paragraph('Plans ranked after the first, each with the one figure that would have to change least for it to win, with all else and both layouts unchanged; and the degrees that the search cut as a whole.') : '',
    table('Plans that lose, and the smallest change of one figure that would make each win', [['rank', 'rank'], ['plan', miss => labelOf(d, miss.rank - 1)], ['behind', miss => behind(d, d.plans[miss.rank - 1]), 'change'], ['would win with', would], ['why it is slower', miss => d.words?.plans?.[miss.rank - 1]?.slower]], misses),
    table('Degrees that were cut as a whole, lowest bounds first: none of their plans is faster', [['degrees', cut => Object.entries(cut.axes).filter(([, degree]) => degree > 1).map(([role, degree]) => `${role}=${degree}`).join(' ')], ['machine', 'machine_text'], ['bound', 'seconds', 'seconds'], ['above plan 1', cut => cut.seconds / d.plans[0].ranked_seconds - 1, 'change']], d.plans.length ? closest : []));
}
function valueOf(figure) {
  const units = { B: 'bytes', 'B/s': 'byte_rate', 'FLOP/s': 'flop_rate', 's': 'seconds' };
  return units[figure.unit] ? say(units[figure.unit], figure.value) : figure.unit === 'OP/s' ? si(figure.value, 'OP/s') : `${digits(figure.value, 6)} ${figure.unit ?? ''}`.trim();
}
function basisPart(d) {
  return section('basis', 'Assumptions and proof', paragraph(d.words?.assumptions), paragraph(d.words?.search),
    d.figures ? paragraph(`Profile ${d.program?.profile}: ${d.figures.profile_source}`) : '',
    paragraph(d.nearest_run ? `Nearest measured run: ${d.nearest_run.id} (${d.nearest_run.model} on ${say('count', d.nearest_run.chips)} x ${d.nearest_run.chip}, ${d.nearest_run.plan}): ${say('number', d.nearest_run.measured_tokens_per_second_per_chip)} tokens/s per chip measured, ${say('number', d.nearest_run.predicted_tokens_per_second_per_chip)} predicted. ${d.nearest_run.source}` : ''),
    folded('Options', table('Every option in force that can change the answer, defaults included', [['option', ([name]) => '--' + name.replaceAll('_', '-')], ['value', ([, value]) => typeof value === 'boolean' ? SAY.yes(value) : String(value ?? '')]], Object.entries(d.request ?? {}))),
    folded('The chip, figure by figure', table('Figures of the chip', [['figure', 'name'], ['value', valueOf], ['source', 'source'], ['checked', one => one.verified ? 'yes' : 'no']], d.figures?.chip)),
    folded('The profile, figure by figure', table('Figures of the profile, as used on this machine', [['figure', 'name'], ['value', one => digits(one.value, 4), 'text'], ['meaning', 'meaning'], ['of', 'of']], d.figures?.profile)),
    folded('The search', pairs('What was searched', { ...d.search, certificate: undefined })),
    d.plans[0] ? folded('Plan 1, every figure', pairs('Every figure of plan 1', { ...d.plans[0], why: undefined, words: undefined })) : '',
    d.program?.data_sha256 ? paragraph(`Data files: SHA-256 ${d.program.data_sha256}.`) : '');
}
// What `explain --why-not` finds.
function comparisonPart(d) {
  return section('comparison', 'Against the best plan', d.why_not ? pairs('Against the best plan', d.why_not) : '');
}
function planView(d) {
  const some = d.plans.length > 0, named = isNamed(d);
  return [
    section('verdict', 'The verdict', some ? planTiles(d) : null, paragraph(d.words?.answer), paragraph(d.words?.confidence), paragraph(d.words?.sensitivity),
      !d.words && d.helps?.length ? table('What would help', [['change', 'change'], ['time per token', 'relative_seconds_per_token', 'change']], d.helps) : '',
      some ? [paragraph(d.plans[0].words && !d.words?.answer?.includes(d.plans[0].words) ? `In ${d.plans[0].launcher ?? 'its launcher'}'s words: ${d.plans[0].words}.` : ''), code('The plan, for --plan:', d.commands?.plan), code('Its launch file:', d.commands?.emit), code('This answer again:', d.commands?.again),
        el('h3', {}, named ? 'The plan' : 'The plans'), plansTable(d), d.plans[0].why?.length ? [el('h3', {}, named ? 'About this plan' : 'Why plan 1'), list(d.plans[0].why)] : '',
        list(d.plans[0].warnings?.map(one => one.text)), list((d.words?.plans ?? []).slice(1).filter(one => one.slower).map((one, i) => `Plan ${i + 2}, ${one.plan}: ${one.slower}`))]
        : table('The nearest machines that fit', [['machine', 'machine.text'], ['chips', one => one.chips_used ?? '', 'count'], ['HBM', 'memory.total_bytes', 'bytes'], ['step', 'step.seconds', 'seconds'], ['plan', 'notation']], d.nearest),
      d.words?.alternatives?.length ? [el('h3', {}, 'Alternatives'), table('Alternatives where sizes do not divide, each with its best plan; the price is per token', [['way', 'way'], ['what changes', 'change'], ['step', 'step'], ['price', 'price'], ['plan', 'plan'], ['launched by', 'launchers']], d.words.alternatives)] : ''),
    ...[...some ? [stepPicture] : [], memoryPicture, ...some ? [placementPicture, timelinePicture, paretoPicture, scalingPicture, sensitivityPicture, missesPart] : [], comparisonPart, basisPart].map(part => () => part(d))];
}
