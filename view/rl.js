// SPDX-License-Identifier: GPL-3.0-or-later
// A report of rl.
'use strict';

function rlTiles(d) {
  const step = d.steps[0], error = 1 + (d.words?.likely_error ?? 0), memory = d.trainer_memory;
  return tiles([['Step', say('seconds', step.seconds), error > 1 ? `likely ${say('time', step.seconds / error)} to ${say('time', step.seconds * error)}` : ''],
    ['Tokens an hour', say('short', step.tokens_per_hour), d.words?.split ?? step.way],
    ['Cost of a step', say('usd', step.usd ?? ''), d.words?.usd_per_chip_hour ? `at ${say('usd', d.words.usd_per_chip_hour)} per chip-hour` : ''],
    ['HBM of a trainer', memory ? say('bytes', memory.total_bytes) : '', memory ? `of ${say('bytes', memory.limit_bytes)} that plans may use` : '']]);
}
// Phases by their names in the document and in its timeline.
const PHASES = { generation: 'matmul', training: 'backward', critic: 'optimizer', logprobs: 'sequence', 'log-probabilities': 'sequence', reference: 'recompute', 'log-probabilities, reference': 'recompute', transfer: 'pipeline', load: 'other', other: 'elementwise', 'rewards, data, other': 'elementwise' };
function rlStep(d) {
  const t = d.timeline && { ...d.timeline, kinds: d.timeline.kinds.map(kind => ({ ...kind, of: PHASES[kind.name] ?? kind.of })) }, name = key => key.replaceAll('_', ' ');
  const splits = d.steps.map(step => ({ label: `${name(step.way)}, ${step.train_chips} train, ${step.rollout_chips} generate: a step of ${say('seconds', step.seconds)}`, parts: Object.entries(step.phases).map(([phase, seconds], i) => [name(phase), seconds, PHASES[phase] ?? PAINTS[i % 4]]) }));
  return section('step', 'Step time', t ? paragraph(t.overlaps ? 'Both pools work at once, on the answers of steps that follow each other.' : 'Phases follow each other.') : '',
    t ? figure('A step in time: phases of each pool, until the weights are at the engines', timeline('A step in time', t, t.step_seconds), table('A step in time', [['pool', 'pool'], ['phase', 'phase'], ['from', 'from', 'seconds'], ['seconds', 'seconds', 'seconds']],
      t.rows.flatMap(row => row.kind.map((kind, i) => ({ pool: row.name, phase: t.kinds[kind].name, from: row.begin_seconds[i], seconds: row.end_seconds[i] - row.begin_seconds[i] }))))) : '',
    figure('Seconds of all phases, of the best of each way; those of two pools may overlap', bars(splits, 'seconds'), table('Phases of the best of each way', [['way', 'label'], ['phase', 'phase'], ['seconds', 'seconds', 'seconds']],
      splits.flatMap(({ label, parts }) => parts.filter(([, seconds]) => seconds > 0).map(([phase, seconds]) => ({ label, phase, seconds }))))),
    table('The best of each way', [['way', step => name(step.way)], ['train', 'train_chips', 'count'], ['generate', 'rollout_chips', 'count'], ['lag', 'lag'], ['step', 'seconds', 'seconds'], ['tokens an hour', 'tokens_per_hour', 'count'], ['cost', 'usd', 'usd'], ['trainer', 'trainer.notation'], ['rollout', step => `${step.rollout.replicas} x ${step.rollout.notation} (${step.rollout.engine})`]], d.steps, { drop: true }));
}
function rlMemory(d) {
  const memory = d.trainer_memory;
  if (!memory) return null;
  const rows = [{ label: 'a trainer at its peak', parts: memoryParts(memory), limit: memory.limit_bytes }];
  return section('memory', 'Memory', paragraph(`Training takes ${say('bytes', memory.total_bytes)} of the ${say('bytes', memory.limit_bytes)} that plans may use.`),
    figure('HBM of a trainer against its limit', bars(rows, 'bytes', { limits: true }), table('HBM of a trainer', [['row', 'part'], ['HBM', 'bytes', 'bytes']], rows[0].parts.map(([part, bytes]) => ({ part, bytes })))));
}
function rlFlight(d) {
  const rollout = d.steps[0].rollout, points = [];
  let now = rollout.prompt_seconds ?? 0;
  for (const part of rollout.in_flight ?? []) {
    points.push({ x: now, y: part.answers, tip: `${digits(part.answers, 4)} answers, ${say('seconds', part.step_seconds)} a token`, token: part.step_seconds });
    now += part.steps * part.step_seconds;
  }
  if (!points.length) return null;
  const data = points.slice();
  points.push({ x: now, y: 0, tip: 'the longest ends' });
  return section('flight', 'Answers in flight', paragraph(`One batch of ${say('count', rollout.answers)} answers by itself: ${say('seconds', now)} until the longest ends.`),
    figure('Answers in flight, of a replica', plot([{ name: 'answers in flight', line: true, points }], { name: 'Answers in flight', x: { name: 'since the first token', unit: 'seconds', zero: true }, y: { name: 'answers', unit: 'count', zero: true } }),
      table('Answers in flight', [['seconds', 'x', 'seconds'], ['answers', 'y', 'number'], ['a token takes', 'token', 'seconds']], data)));
}
const rlBasis = d => section('basis', 'Assumptions and proof', folded('The work', pairs('The work', d.work)), folded('Options', pairs('The request', d.request)), d.recipes?.length ? folded('Recipes', rowsOf('recipes', d.recipes)) : '',
  folded('The splits', table('Each split, its floor and its best step', [['way', 'way'], ['train chips', 'train_chips', 'count'], ['floor', 'floor', 'seconds'], ['best step', 'seconds', 'seconds'], ['what became of it', 'what']], d.certificate?.splits)), pairs('The proof', d.certificate));
const rlView = d => [section('answer', 'The answer', d.steps.length ? [rlTiles(d), textBelow(d.words?.text)] : textPart(d.words?.text)), ...(d.steps.length ? [rlStep, one => placesPart(one.places, 'Placement'), rlMemory, rlFlight] : []).concat([rlBasis]).map(part => () => part(d))];
