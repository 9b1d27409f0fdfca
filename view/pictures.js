// SPDX-License-Identifier: GPL-3.0-or-later
// Pictures of sums, of points, of changes and of axes. A paint has a colour and a pattern, so that none rests on colour.
'use strict';

const PAINTS = ['matmul', 'attention', 'elementwise', 'recompute', 'tensor', 'expert', 'sequence', 'fsdp', 'data', 'pipeline', 'waits', 'bubble', 'optimizer', 'other', 'forward', 'backward'];
const PAINT_OF = { weights: 'fsdp', parameters: 'matmul', gradients: 'tensor', activations: 'attention', gathered: 'fsdp', logits: 'pipeline', transient: 'sequence', 'adapters': 'expert',
  attention_data: 'expert', cache: 'attention', exposed: 'waits', idle: 'bubble', low: 'tensor', high: 'attention' };
const paintOf = (name, i) => PAINTS.includes(name) ? name : PAINT_OF[name] ?? PAINTS[(i ?? 13) % PAINTS.length];
const swatch = paint => el('i', { class: 'swatch paint-' + paint, 'aria-hidden': 'true' });
const walked = name => ({ ...WALKED, role: 'group', 'aria-label': `${name}: arrows go from part to part` });
const legend = all => el('ul', { class: 'legend' }, all.map(([paint, name]) => el('li', {}, swatch(paint), name)));

// Parts of wholes, a bar each: [{label, parts: [[name, value, paint, tip]], limit, likely: [low, high], rest}]. `share`: the
// whole is what its parts add up to.
function bars(rows, unit, options = {}) {
  rows = rows.filter(row => row.parts.some(([, value]) => value > 0));
  if (!rows.length) return '';
  const sum = row => row.parts.reduce((total, [, value]) => total + Math.max(0, value || 0), 0);
  const most = Math.max(...rows.map(row => Math.max(sum(row), row.limit ?? 0, row.likely?.[1] ?? 0)));
  const share = value => (100 * value / most).toFixed(3) + '%', named = new Map();
  const mark = (at, name, kind) => el('b', { class: kind, 'data-tip': name, style: { left: share(at) } });
  const tipOf = (row, name, value, more) => options.legend === false ? name : `${name}: ${say(unit, value)}, ${say('share', value / sum(row))}${more ? '; ' + more : ''}`;
  const partsOf = row => row.parts.filter(([, value]) => value > 0), said = row => partsOf(row).map(([name, value, , more]) => tipOf(row, name, value, more)).concat(row.limit ? 'limit: ' + say(unit, row.limit) : []).join('; ');
  const made = rows.map(row => el('div', { class: 'row' }, el('span', { class: 'label' }, row.label), el('div', { class: 'bar', role: 'img', 'aria-label': row.label, 'aria-description': said(row) },
    partsOf(row).map(([name, value, paint, more]) => {
      named.set(name, paint);
      return el('i', { class: 'paint-' + paint, style: { width: share(value) }, 'data-tip': tipOf(row, name, value, more) });
    }),
    row.limit ? mark(row.limit, 'limit: ' + say(unit, row.limit), 'limit') : '',
    row.likely && row.likely[1] > row.likely[0] ? el('b', { class: 'likely', 'data-tip': `likely ${say(unit, row.likely[0])} to ${say(unit, row.likely[1])}`, style: { left: share(row.likely[0]), width: share(row.likely[1] - row.likely[0]) } }) : ''),
  el('span', { class: 'sum' }, row.limit && options.limits ? `${say(unit, sum(row))} of ${say(unit, row.limit)}` : say(unit, sum(row)))));
  return el('div', { class: 'bars', ...walked('Bars') }, made, options.legend === false ? '' : legend([...named].map(([name, paint]) => [paint, name])));
}

// Changes to both sides of nothing, a row each: [{label, sides: [[name, value, paint, tip]], mark}], the largest first.
function tornado(rows, ends, text = x => say('change', x)) {
  if (!rows.length) return '';
  const all = rows.flatMap(row => row.sides.map(([, value]) => value)), low = Math.min(0, ...all), high = Math.max(0, ...all), span = high - low || 1;
  const x = value => (100 * (value - low) / span).toFixed(3) + '%';
  return el('div', { class: 'bars tornado', ...walked('Changes') }, rows.map(row => el('div', { class: 'row' }, el('span', { class: 'label' }, row.label),
    el('div', { class: 'bar' }, el('b', { class: 'zero', style: { left: x(0) } }), row.sides.map(([name, value, paint, more], side) => el('i', {
      class: 'paint-' + paint, style: { left: x(Math.min(0, value)), width: `max(1px, ${(100 * Math.abs(value) / span).toFixed(3)}%)`, top: side * 50 + '%', height: 100 / row.sides.length + '%' },
      'data-tip': `${row.label} ${name}: ${text(value)}${more ? ', ' + more : ''}` }))),
    el('span', { class: 'sum' }, row.sides.map(([, value]) => text(value)).join(' / '), row.mark ? el('em', {}, row.mark) : ''))), ends.length ? legend(ends) : '');
}

// ---- points on two scales ----

const css = name => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const redraws = new Set();
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => redraws.forEach(draw => draw()));
let resizing = 0;
addEventListener('resize', () => { clearTimeout(resizing); resizing = setTimeout(() => redraws.forEach(draw => draw()), 100); });
const MARKS = [0, 4, 3, 45, 5, 6]; // corners: a disc, a square, a triangle, a diamond ...
const markOf = s => (s + Math.floor(s / 6)) % MARKS.length; // with the colour, 36 of them

function shape(context, corners, x, y, r) {
  context.beginPath();
  if (corners === 0) context.arc(x, y, r, 0, 7);
  else for (let i = 0, n = corners === 45 ? 4 : corners; i < n; i++) {
    const angle = 2 * Math.PI * i / n - Math.PI / 2 + (corners === 4 ? Math.PI / 4 : 0);
    context.lineTo(x + 1.25 * r * Math.cos(angle), y + 1.25 * r * Math.sin(angle));
  }
  context.closePath();
  context.fill();
  context.stroke();
}

// Ticks of a logarithmic axis, at most so many where there is a choice.
function decades(low, high, most) {
  const of = steps => Array.from({ length: Math.ceil(Math.log10(high / low)) + 2 }, (_, i) => steps.map(step => step * 10 ** (Math.floor(Math.log10(low)) + i))).flat().filter(value => value >= low && value <= high);
  return [[1, 2, 5], [1, 3], [1]].map(of).find(all => all.length <= most) ?? of([1]);
}

// series: [{name, points: [{x, y, tip, small}], line: true, step: true}]; a line `through` leaves out small points, one that is `still` only
// shows where something lies. The pointer, or the arrows once the picture has the focus,
// go from point to point; a click or Enter pins one. options: {x, y: {name, unit, log, zero}}.
function plot(series, options) {
  series = series.filter(one => one.points.length);
  const points = series.flatMap((one, s) => one.points.map(point => ({ ...point, s }))).filter(p => Number.isFinite(p.x) && Number.isFinite(p.y)).sort((a, b) => a.x - b.x);
  if (points.length === 0) return '';
  // Within a decade a logarithmic axis has hardly a tick.
  const spread = of => { const all = points.map(point => point[of]); return Math.max(...all) / Math.min(...all); };
  options = { ...options, x: { ...options.x, log: options.x.log && (options.ticks || spread('x') > 20) }, y: { ...options.y, log: options.y.log && spread('y') > 20 } };
  const data = [points.map(p => p.x), ...series.map((one, s) => points.map(p => p.s === s && !(one.through && p.small) ? p.y : null))];
  const live = [...points.keys()].filter(i => !series[points[i].s].still);
  const box = el('div', { class: 'plot', tabindex: '0', role: 'application', 'aria-label': `${options.name}: ${live.length} points, ${options.y.name} against ${options.x.name}; arrows go from point to point, Enter pins one, Escape leaves` });
  const said = el('p', { class: 'said', role: 'status' }), pinned = new Set();
  let at = -1, drawn = null;
  const place = i => { const ratio = devicePixelRatio; return [drawn.valToPos(points[i].x, 'x', true) / ratio, drawn.valToPos(points[i].y, 'y', true) / ratio]; };
  const text = i => `${points[i].tip ?? series[points[i].s].name}: ${say(options.x.unit, points[i].x)} ${options.x.name}, ${say(options.y.unit, points[i].y)} ${options.y.name}`;
  function on(i, x, y) {
    at = i;
    if (i < 0) { tip.hide(); drawn.redraw(false); return; }
    const edge = box.getBoundingClientRect(), [px, py] = place(i);
    tip.show(text(i), x ?? edge.left + px, y ?? edge.top + py);
    drawn.redraw(false);
  }
  function pin() {
    if (at < 0) return;
    pinned.has(at) ? pinned.delete(at) : pinned.add(at);
    said.textContent = pinned.size ? 'Pinned: ' + [...pinned].map(text).join(' · ') : '';
    drawn.redraw(false);
  }
  function nearest(event) {
    const edge = box.getBoundingClientRect();
    let best = -1, least = 40;
    live.forEach(i => { const [px, py] = place(i), far = Math.hypot(px - event.clientX + edge.left, py - event.clientY + edge.top); if (far < least) [least, best] = [far, i]; });
    return best;
  }
  box.addEventListener('pointermove', event => { if (drawn) on(nearest(event), event.clientX, event.clientY); });
  box.addEventListener('pointerleave', () => drawn && on(-1));
  box.addEventListener('click', pin);
  box.addEventListener('keydown', event => {
    const step = { ArrowRight: 1, ArrowUp: 1, ArrowLeft: -1, ArrowDown: -1 }[event.key];
    if (step) { on(live[(live.indexOf(at) + step + live.length) % live.length]); said.textContent = text(at); event.preventDefault(); }
    if (event.key === 'Enter') pin();
    if (event.key === 'Escape') on(-1);
  });
  const axis = (scale, of, side) => ({ scale, side, label: of.name, labelSize: 18, labelFont: '12px system-ui', font: '12px system-ui', stroke: css('--ink'), grid: { stroke: css('--rule'), width: 1 }, ticks: { stroke: css('--rule') },
    size: side === 3 ? 72 : 34, values: (_, all) => all.map(value => value === null ? '' : tick(of.unit, value)),
    ...(of.log ? { splits: (u, _, low, high) => options.ticks && side === 2 ? [...new Set(points.map(p => p.x))] : decades(low, high, side === 2 ? u.width / 56 : 12), filter: (_, all) => all } : {}) });
  // Of all points, those too that no line joins.
  const range = (of, key) => () => {
    const all = points.map(point => point[key]), low = Math.min(...all), high = Math.max(...all), edge = 0.06 * (high - low || Math.abs(high) || 1);
    return of.log ? [low / 1.25, high * 1.25] : [of.zero ? 0 : low - edge, high + edge];
  };
  function marks(u) {
    const context = u.ctx, ratio = devicePixelRatio;
    [...points.keys()].sort((i, j) => !!points[j].small - !!points[i].small).forEach(i => {
      const point = points[i], x = u.valToPos(point.x, 'x', true), y = u.valToPos(point.y, 'y', true);
      context.fillStyle = css('--s' + points[i].s % 6);
      context.strokeStyle = i === at || pinned.has(i) ? css('--ink') : css('--paper');
      context.lineWidth = (i === at || pinned.has(i) ? 2 : 1) * ratio;
      if (series[point.s].bare) return;
      shape(context, MARKS[markOf(point.s)], x, y, ratio * (point.small ? 3 : i === at ? 7 : 5));
    });
  }
  function draw() {
    if (!box.isConnected) return;
    drawn?.destroy();
    drawn = new uPlot({ width: Math.max(260, Math.min(760, box.clientWidth)), height: 300, legend: { show: false }, cursor: { show: false }, hooks: { draw: [marks] },
      scales: { x: { time: false, distr: options.x.log ? 3 : 1, range: range(options.x, 'x') }, y: { distr: options.y.log ? 3 : 1, range: range(options.y, 'y') } },
      axes: [axis('x', options.x, 2), axis('y', options.y, 3)],
      series: [{}, ...series.map((one, s) => ({ stroke: css(one.ink ? '--ink' : '--s' + s % 6), width: one.line ? 2 : 0, dash: one.dash ? [5, 5] : undefined, spanGaps: true, points: { show: false }, paths: one.line ? one.step ? uPlot.paths.stepped({ align: 1 }) : uPlot.paths.linear() : () => null }))] }, data, box);
  }
  redraws.add(draw);
  requestAnimationFrame(draw);
  return el('div', {}, box, el('ul', { class: 'legend' }, series.map((one, s) => one.unnamed ? '' : el('li', {}, el('i', { class: one.bare ? `stroke ${one.ink ? 'ink' : 't' + s % 6}${one.dash ? ' dash' : ''}` : `mark m${markOf(s)} t${s % 6}`, 'aria-hidden': 'true' }), one.name))), said);
}

// ---- which role lies on which axis ----

const KIND_OF_AXIS = { ring: 'a ring', line: 'a line', mesh: 'direct links', switch: 'a switch' };
const axisWords = axis => `${say('count', axis.size)} in ${KIND_OF_AXIS[axis.kind] ?? axis.kind}, ${say('byte_rate', axis.bytes_per_second)} one way`;
const rolesOf = (plan, axis) => (plan.placement ?? []).filter(one => one.axis === axis.name);
const rolesText = roles => roles.map(one => `${one.role} ${one.factor} (${one.stride} apart)`).join(', ') || 'no role';
// Each axis as a row of its chips, in it the roles as they nest, the outermost on top. A block is a member of its group.
function mesh(plan) {
  const WIDE = 620, LEVEL = 26;
  return el('div', { class: 'mesh' }, (plan.machine?.axes ?? []).map(axis => {
    const roles = rolesOf(plan, axis).slice().reverse(), high = Math.max(1, roles.length) * LEVEL;
    const boxes = roles.flatMap((one, level) => {
      const cell = WIDE * one.stride / axis.size, cells = axis.size / one.stride, y = level * LEVEL;
      const name = `${one.role}: ${one.factor} of ${axis.name}, ${one.stride} apart`;
      return cell < 4 ? [svg('rect', { x: 0, y, width: WIDE, height: LEVEL - 6, class: 'fill-' + paintOf(one.role), 'data-tip': name })]
        : Array.from({ length: cells }, (_, i) => svg('rect', { x: cell * i, y, width: Math.max(1, cell - 1.5 - ((i + 1) % one.factor === 0 ? Math.min(4, cell / 4) : 0)), height: LEVEL - 6, class: 'fill-' + paintOf(one.role), 'data-tip': `${name}; member ${i % one.factor + 1} of ${one.factor}, chips ${i * one.stride + 1} to ${(i + 1) * one.stride} of the axis` }));
    });
    return el('div', { class: 'axis' }, el('p', {}, el('strong', {}, axis.name), ' ', axisWords(axis)),
      roles.length ? el('div', { class: 'roles', ...WALKED, ...region('Picture: roles on ' + axis.name) }, el('div', {}, roles.map(one => el('span', {}, `${one.role} ×${one.factor}`))),
        svg('svg', { viewBox: `0 0 ${WIDE} ${high}`, preserveAspectRatio: 'none', height: high, role: 'img', 'aria-label': 'Roles on ' + axis.name }, svg('desc', {}, `${axisWords(axis)}; roles, the outermost first: ${rolesText(roles)}`), ...boxes)) : paragraph('No role.'));
  }));
}
