// SPDX-License-Identifier: GPL-3.0-or-later
// A report of inference.
'use strict';

const KERNELS = { matmul: ['matmuls', 'matmul'], attention: ['attention', 'attention'], experts: ['experts', 'forward'], reduce: ['all_reduce and cache moves', 'tensor'], exchange: ['tokens to experts and back', 'expert'], layers: ['small kernels', 'elementwise'],
  head: ['head', 'recompute'], pass: ['between stages', 'pipeline'], draft: ['drafts', 'backward'], host: ['host and sampling', 'other'] };
const HELD = [['weights', 'weights_bytes', 'matmul'], ['cache', 'kv_bytes', 'attention'], ['activations', 'activations_bytes', 'elementwise'], ['graphs and buffers', 'workspace_bytes', 'other']];
const PHASE_WORDS = { both: '', prefill: ', prompts', decode: ', decode' };
const isOfPrompts = d => d.request?.modes?.length === 1 && d.request.modes[0] === 'prefill';
const pointName = point => `${point.engine ?? 'no engine'}, ${point.notation}`;
const shownPoints = d => d.shown ?? [d.best_point && { kind: 'best', engine: d.best_point.engine, point: d.best_point }, d.usual && { kind: 'usual', engine: d.usual.engine, point: d.usual }].filter(one => one);
const shownPools = d => shownPoints(d).flatMap((one, i) => (one.point.pools ?? []).map((pool, p) => ({ pool, name: `${one.kind || 'point ' + (i + 1)}${PHASE_WORDS[pool.phase]}: ${pool.workers} x ${one.pools?.[p] ?? ''}, batch ${pool.batch}, ${one.engine}` })));

function servingTiles(d) {
  const best = d.best_point, pool = best.pools.at(-1), factor = d.words?.likely_factor;
  return tiles([
    ['Best', d.words?.engine ?? best.engine, best.notation],
    ['Per token', best.tpot_seconds > 0 ? say('seconds', best.tpot_seconds) : '', factor > 1 ? `nine in ten below ${say('seconds', best.tpot_seconds * factor)}` : ''],
    ['First token', best.ttft_seconds > 0 ? say('seconds', best.ttft_seconds) : '', best.prefill_load > 0 ? `at ${(100 * best.prefill_load).toFixed(0)}% of the capacity for prompts` : ''],
    ['A chip', `${digits(best.tokens_per_second_per_chip, 4)} tokens/s`, `${digits(best.tokens_per_second_per_user, 4)} for each user`],
    ['Cost', best.cost_usd_per_million_output_tokens ? say('usd', best.cost_usd_per_million_output_tokens) : '', `a million tokens${d.words?.usd_per_chip_hour ? `, at ${say('usd', d.words.usd_per_chip_hour)} per chip-hour` : ''}`],
    ['HBM per chip', say('bytes', pool.memory.total_bytes), `of ${say('bytes', pool.memory.limit_bytes)} that the engine may use`]]);
}
function frontPart(d) {
  const prompts = isOfPrompts(d), point = one => ({ x: one.tokens_per_second_per_user, y: one.tokens_per_second_per_chip, tip: `${pointName(one)}, ${say('seconds', one.tpot_seconds)} per token, first in ${say('seconds', one.ttft_seconds)}` });
  const all = d.front ?? [], physical = d.physical?.front ?? [], any = d.request?.engine === 'any';
  if (!all.length) return null;
  const users = all.map(one => one.tokens_per_second_per_user), chips = all.map(one => one.tokens_per_second_per_chip), four = x => digits(x, 4);
  const x = { name: prompts ? 'prompts per second, a user' : 'tokens per second, a user', unit: 'number', log: true }, y = { name: 'tokens per second, a chip', unit: 'number', log: true };
  return section('front', 'Latency and throughput', paragraph(`${all.length} points of which none is beaten in both: from ${four(Math.min(...users))} to ${four(Math.max(...users))} tokens per second for a user, and from ${four(Math.min(...chips))} to ${four(Math.max(...chips))} for a chip.${prompts ? ' Of prompts alone: prompts per second of one user, and prompt tokens of a chip.' : ''}`),
    figure('The rate of a user against that of a chip', plot([{ name: any ? 'what divides and fits' : 'what engines launch', line: true, small: true, points: all.map(one => ({ ...point(one), small: true })) },
      ...physical.length ? [{ name: 'what divides and fits, under no rules of engines', line: true, dash: true, points: physical.map(one => ({ ...point(one), small: true })) }] : [],
      ...shownPoints(d).map(one => ({ name: one.kind || pointName(one.point), points: [{ ...point(one.point), tip: `${one.kind}: ${point(one.point).tip}` }] }))], { name: 'The front', x, y }), [pointsTable('Points of the front', all), pointsTable('What divides and fits, under no rules of engines', physical)]),
    pointsTable('Points that are shown', shownPoints(d).map(one => ({ ...one.point, kind: one.kind, engine: one.engine }))));
}
const pointsTable = (caption, points) => table(caption, [['front', 'kind'], ['rank', 'rank'], ['way', 'notation'], ['engine', point => point.engine ?? 'none'], ['tokens/s/user', 'tokens_per_second_per_user', 'number'], ['tokens/s/chip', 'tokens_per_second_per_chip', 'number'], ['per token', 'tpot_seconds', 'seconds'], ['to the first', 'ttft_seconds', 'seconds'],
  ['in flight', 'concurrency', 'count'], ['$ a million out', 'cost_usd_per_million_output_tokens', 'usd']], points, { drop: true });
function servedMemory(d) {
  const rows = shownPools(d).map(({ pool, name }) => ({ label: name, limit: pool.memory.limit_bytes, parts: HELD.map(([part, key, paint]) => [part, pool.memory[key], paint]) }));
  if (!rows.length) return null;
  const total = row => row.parts.reduce((sum, [, value]) => sum + value, 0);
  return section('memory', 'Memory', paragraph(`A chip of the first holds ${say('bytes', total(rows[0]))} of the ${say('bytes', rows[0].limit)} that its engine may use, every sequence at its full length.`),
    figure('Memory of a chip by row, against the limit', bars(rows, 'bytes', { limits: true }), table('Memory of a chip', [['point', 'label'], ...HELD.map(([part], i) => [part, row => row.parts[i][1], 'bytes']), ['total', total, 'bytes']], rows)));
}
function servedStep(d) {
  const rows = shownPools(d).map(({ pool, name }) => ({ label: name, parts: Object.entries(pool.step.terms_seconds).map(([term, value]) => [KERNELS[term]?.[0] ?? term, value, KERNELS[term]?.[1] ?? 'other']), pool }));
  if (!rows.length) return null;
  return section('step', 'Step time', paragraph(`A step of the first takes ${say('seconds', rows[0].pool.step.seconds)}; it is held up by ${rows[0].pool.step.bound_by}.`),
    figure('The time of a step by kernel', bars(rows, 'seconds'), table('The time of a step by kernel', [['point', 'label'], ['kernel', 'part'], ['seconds', 'seconds', 'seconds'], ['share', 'share', 'share']],
      rows.flatMap(row => row.parts.filter(([, value]) => value > 0).map(([part, seconds]) => ({ label: row.label, part, seconds, share: seconds / row.pool.step.seconds }))))));
}
// Parts that follow each other, in rows of their own.
function spans(parts) {
  let now = 0;
  const kinds = [], rows = [];
  for (const [name, of, seconds, begin] of parts) {
    if (!(seconds > 0)) continue;
    const from = begin ?? now;
    kinds.push({ name, of });
    rows.push({ name, kind: [kinds.length - 1], begin_seconds: [from], end_seconds: [from + seconds], microbatch: [0] });
    now = from + seconds;
  }
  return { kinds, rows, end: Math.max(...rows.map(row => row.end_seconds[0])) };
}
const REQUEST = { queue: ['queue', 'waits'], prefill: ['prefill', 'forward'], cache_moves: ['cache moves', 'pipeline'], handing_over: ['handing over', 'other'], host: ['host', 'other'], decode: ['decode', 'backward'] };
function requestPart(d) {
  const times = d.request_seconds, best = d.best_point;
  if (!times || !best) return null;
  const parts = Object.entries(times).map(([name, seconds]) => [...REQUEST[name], seconds]), pool = best.pools.at(-1), terms = Object.entries(pool.step.terms_seconds);
  const message = ([term]) => ['reduce', 'exchange', 'pass'].includes(term), messages = terms.filter(message), sum = messages.reduce((all, [, seconds]) => all + seconds, 0);
  // Kernels one after the other; messages end with the step, during kernels where engines hide them.
  const step = spans([...terms.filter(term => !message(term)).map(([term, seconds]) => [...KERNELS[term], seconds]), ...messages.filter(([, seconds]) => seconds > 0).map(([term, seconds], i) => [...KERNELS[term], seconds, i === 0 ? Math.max(0, pool.step.seconds - sum) : undefined])]);
  const draw = (name, of, end = of.end) => of.rows.length ? figure(name, timeline(name, of, end), table(name, [['part', 'name'], ['from', row => row.begin_seconds[0], 'seconds'], ['seconds', row => row.end_seconds[0] - row.begin_seconds[0], 'seconds']], of.rows)) : '';
  const first = best.ttft_seconds > 0, token = best.tpot_seconds > 0, whole = spans(parts);
  return section('timeline', 'One request in time', paragraph(`${first ? `The first token comes after ${say('seconds', best.ttft_seconds)}` : ''}${first && token ? `, the last of ${say('count', d.request.output)} after ${say('seconds', whole.end)}. ` : ''}${token ? `A step takes ${say('seconds', pool.step.seconds)}; its parts are the sums over all layers.` : ''}`),
    first && token ? draw('A request', whole) : '', first ? draw('Up to the first token', spans(parts.filter(([name]) => name !== 'decode'))) : '', token ? draw('One step, a token of each sequence', step, Math.max(step.end, pool.step.seconds)) : '');
}
function throughputPart(d) {
  const of = d.throughput;
  if (!of) return null;
  const lines = key => of.curves.map(curve => ({ name: `prompts of ${say('count', curve.prompt)}`, line: true, points: curve.batch.map((batch, i) => ({ x: batch, y: curve[key][i], tip: `prompts of ${say('count', curve.prompt)}, ${say('seconds', curve.tpot_seconds[i])} per token` })) }));
  const x = { name: 'sequences in flight', unit: 'count', log: true };
  return section('throughput', 'Against batch and context', paragraph(`One worker in the layout of the best point (${of.worker}), at every batch for which its memory has room, with prompts of ${of.curves.map(curve => say('count', curve.prompt)).join(', ')} tokens.`),
    figure('Tokens per second of a chip, and the time of a token', el('div', { class: 'plots' }, plot(lines('tokens_per_second_per_chip'), { name: 'Throughput', x, y: { name: 'tokens/s per chip', unit: 'number', zero: true } }), plot(lines('tpot_seconds'), { name: 'Time of a token', x, y: { name: 'per token', unit: 'seconds', zero: true } })),
      table('Throughput against batch and context', [['prompt tokens', 'prompt', 'count'], ['batch', 'batch', 'count'], ['tokens/s per chip', 'rate', 'number'], ['per token', 'seconds', 'seconds']], of.curves.flatMap(curve => curve.batch.map((batch, i) => ({ prompt: curve.prompt, batch, rate: curve.tokens_per_second_per_chip[i], seconds: curve.tpot_seconds[i] }))))));
}
function servingBasis(d) {
  return section('basis', 'Assumptions and proof', d.words ? paragraph(`Profile ${d.program?.profile}: ${d.words.profile_source}`) : '', folded('Options', pairs('The request', d.request)), folded('The search', pairs('What was searched', d.search)),
    d.best_point ? folded('The best point, every figure', pairs('The best point', { ...d.best_point, pools: undefined }), ...d.best_point.pools.map(pool => pairs(`Its pool: ${pool.phase}`, pool))) : '',
    d.published?.length ? folded('Layouts that others have published', rowsOf('published', d.published)) : '', d.day ? folded('The day', table('Replicas by hour', [['hour', 'hour'], ['requests/s', 'requests_per_second', 'number'], ['replicas', 'replicas', 'count']], d.day.hours)) : '',
    paragraph(`shardopt ${d.program?.version ?? ''}; data files: SHA-256 ${d.program?.data_sha256}; profile: SHA-256 ${d.program?.profile_sha256}.`));
}
const servingView = d => [section('answer', 'The answer', d.best_point ? [servingTiles(d), textBelow(d.words?.text)] : textPart(d.words?.text)),
  ...[frontPart, servedMemory, servedStep, requestPart, one => placesPart(one.places, 'Placement'), throughputPart, servingBasis].map(part => () => part(d))];
