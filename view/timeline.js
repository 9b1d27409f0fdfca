// SPDX-License-Identifier: GPL-3.0-or-later
// Rows of bars in time, to zoom: buttons and keys, a range that is dragged, the wheel with Ctrl.
'use strict';

const PATTERN = { attention: 'down', recompute: 'cross', tensor: 'up', expert: 'dots', sequence: 'lines', data: 'down', pipeline: 'bars', waits: 'dots', bubble: 'up', optimizer: 'lines', backward: 'up' };
function patternOf(context, paint, ratio) {
  const size = 6 * ratio, tile = el('canvas', { width: size, height: size }), on = tile.getContext('2d');
  on.fillStyle = css('--p-' + paint);
  on.fillRect(0, 0, size, size);
  on.strokeStyle = on.fillStyle = css('--stripe');
  on.lineWidth = 1.2 * ratio;
  const line = (...to) => { on.beginPath(); on.moveTo(to[0], to[1]); on.lineTo(to[2], to[3]); on.stroke(); };
  const kind = PATTERN[paint];
  if (kind === 'up' || kind === 'cross') line(0, size, size, 0);
  if (kind === 'down' || kind === 'cross') line(0, 0, size, size);
  if (kind === 'lines') line(0, size / 2, size, size / 2);
  if (kind === 'bars') line(size / 2, 0, size / 2, size);
  if (kind === 'dots') on.fillRect(size / 3, size / 3, size / 4, size / 4);
  return context.createPattern(tile, 'repeat');
}

function timeline(name, of, end) {
  const bars = of.rows.map(row => row.kind.map((kind, i) => ({ kind: of.kinds[kind].name, paint: paintOf(of.kinds[kind].of), from: row.begin_seconds[i], to: row.end_seconds[i], microbatch: row.microbatch[i], share: row.share?.[i] })));
  const ROW = 24, BOTTOM = 24, high = of.rows.length * ROW + BOTTOM;
  const text = bar => `${bar.kind}${bar.microbatch ? ', microbatch ' + bar.microbatch : ''}: ${say('seconds', bar.to - bar.from)}, from ${say('seconds', bar.from)}${bar.share === undefined ? '' : `, runs ${say('share', bar.share)} of it`}`;
  const canvas = el('canvas', { tabindex: '0', role: 'application', height: high, 'aria-label': `${name}: ${of.rows.map(row => row.name).join(', ')}; plus and minus zoom, arrows move, 0 shows all` });
  const said = el('p', { class: 'said', role: 'status' });
  let from = 0, to = end, left = 100, wide = 0, drag = null, waits = false;
  const x = seconds => left + (wide - left - 4) * (seconds - from) / (to - from);
  const secondsAt = px => from + (px - left) / (wide - left - 4) * (to - from);
  function draw() {
    if (!canvas.isConnected) return;
    const ratio = devicePixelRatio, context = canvas.getContext('2d'), paints = {};
    wide = canvas.clientWidth;
    canvas.width = wide * ratio;
    canvas.height = high * ratio;
    const ink = css('--ink');
    context.font = `${12 * ratio}px system-ui`;
    left = Math.min(wide * 0.42, Math.max(wide < 500 ? 76 : 112, ...of.rows.map(row => context.measureText(row.name).width / ratio + 14)));
    const step = 10 ** Math.floor(Math.log10((to - from) / 3)) || 1, ticks = (to - from) / step > 9 ? 5 * step : (to - from) / step > 5 ? 2 * step : step;
    context.textAlign = 'center';
    for (let t = Math.ceil(from / ticks) * ticks; t <= to * (1 + 1e-12); t += ticks) {
      context.fillStyle = css('--rule');
      context.fillRect(x(t) * ratio, 0, ratio, (high - BOTTOM) * ratio);
      context.fillStyle = ink;
      if (x(t) < wide - 24) context.fillText(tick('seconds', t), x(t) * ratio, (high - 8) * ratio);
    }
    context.save();
    context.beginPath();
    context.rect(left * ratio, 0, (wide - left) * ratio, high * ratio);
    context.clip();
    bars.forEach((row, r) => row.forEach(bar => {
      if (bar.to < from || bar.from > to) return;
      const a = x(Math.max(bar.from, from)), b = x(Math.min(bar.to, to)), low = bar.paint === 'forward' ? 4 : 0;
      paints[bar.paint] ??= patternOf(context, bar.paint, ratio);
      context.fillStyle = paints[bar.paint];
      const full = ROW - 6 - low, tall = full * (bar.share ?? 1);
      context.fillRect(a * ratio, (r * ROW + 2 + low + full - tall) * ratio, Math.max(0.5, b - a - Math.min(1, (b - a) / 6)) * ratio, tall * ratio);
      if (bar.share !== undefined) return;
      const label = bar.microbatch || bar.kind, room = context.measureText(label).width / ratio + 6;
      if (b - a < room) return;
      context.fillStyle = css('--p-' + bar.paint);
      const middle = r * ROW + 2 + low + full / 2;
      context.fillRect((a + b - room) / 2 * ratio, (middle - 6.5) * ratio, room * ratio, 13 * ratio);
      context.fillStyle = css('--on-bar');
      context.fillText(label, (a + b) / 2 * ratio, (middle + 4) * ratio);
    }));
    if (drag) { context.fillStyle = css('--select'); context.fillRect(x(Math.min(drag.from, drag.to)) * ratio, 0, Math.abs(x(drag.to) - x(drag.from)) * ratio, high * ratio); }
    context.restore();
    context.textAlign = 'right';
    context.fillStyle = ink;
    of.rows.forEach((row, r) => context.fillText(row.name, (left - 8) * ratio, (r * ROW + 16) * ratio, (left - 10) * ratio));
  }
  const redraw = () => { if (!waits) { waits = true; requestAnimationFrame(() => { waits = false; draw(); }); } };
  function show(a, b) {
    const least = end * 1e-5, span = Math.min(end, Math.max(least, b - a));
    from = Math.max(0, Math.min(end - span, a));
    to = from + span;
    said.textContent = span < end ? `From ${say('seconds', from)} to ${say('seconds', to)}` : '';
    redraw();
  }
  const zoom = (factor, middle = (from + to) / 2) => show(middle - (middle - from) * factor, middle + (to - middle) * factor);
  const move = share => show(from + share * (to - from), to + share * (to - from));
  const all = () => show(0, end);
  const KEYS = { '+': () => zoom(0.5), '=': () => zoom(0.5), '-': () => zoom(2), 0: all, ArrowLeft: () => move(-0.2), ArrowRight: () => move(0.2), Home: () => show(0, to - from), End: () => show(end - to + from, end) };
  canvas.addEventListener('keydown', event => { if (KEYS[event.key]) { KEYS[event.key](); event.preventDefault(); } });
  canvas.addEventListener('wheel', event => { if (event.ctrlKey) { zoom(event.deltaY > 0 ? 1.25 : 0.8, secondsAt(event.offsetX)); event.preventDefault(); } }, { passive: false });
  canvas.addEventListener('pointerdown', event => { if (event.pointerType === 'mouse' && event.offsetX > left) { drag = { from: secondsAt(event.offsetX), to: secondsAt(event.offsetX) }; canvas.setPointerCapture(event.pointerId); } });
  canvas.addEventListener('pointermove', event => {
    const seconds = secondsAt(event.offsetX);
    if (drag) { drag.to = Math.max(from, Math.min(to, seconds)); redraw(); }
    const bar = bars[Math.floor(event.offsetY / ROW)]?.findLast(one => one.from <= seconds && seconds <= one.to);
    bar && event.offsetX > left ? tip.show(`${of.rows[Math.floor(event.offsetY / ROW)].name}: ${text(bar)}`, event.clientX, event.clientY) : tip.hide();
  });
  canvas.addEventListener('pointerup', () => {
    if (drag && Math.abs(x(drag.to) - x(drag.from)) > 4) show(Math.min(drag.from, drag.to), Math.max(drag.from, drag.to));
    drag = null;
    redraw();
  });
  canvas.addEventListener('pointerleave', () => tip.hide());
  canvas.addEventListener('dblclick', all);
  redraws.add(draw);
  redraw();
  const button = (label, text_, act) => el('button', { type: 'button', 'aria-label': label, onclick: act }, text_);
  const shown = new Map(bars.flat().map(bar => [bar.paint + bar.kind.replace(/ of .*/, ''), [bar.paint, bar.kind.replace(/ of .*/, '')]]));
  const paintsShown = shown.size > 12 ? [...new Map(bars.flat().map(bar => [bar.paint, [bar.paint, bar.paint]])).values()] : [...shown.values()];
  return el('div', { class: 'timeline' }, el('p', { class: 'tools' }, button('Zoom in', '+', () => zoom(0.5)), button('Zoom out', '−', () => zoom(2)), button('Earlier', '←', () => move(-0.5)), button('Later', '→', () => move(0.5)),
    button('Show all', 'all', all), el('span', {}, ' drag to zoom')), canvas, said, legend(paintsShown));
}
// What each kind of bar takes in each row.
function timelineTable(name, of, end) {
  const rows = of.rows.flatMap(row => {
    const sums = new Map();
    row.kind.forEach((kind, i) => { const sum = sums.get(kind) ?? { row: row.name, kind: of.kinds[kind].name, bars: 0, seconds: 0 }; sum.bars++; sum.seconds += row.end_seconds[i] - row.begin_seconds[i]; sums.set(kind, sum); });
    return [...sums.values()];
  });
  return table(name, [['row', 'row'], ['what', 'kind'], ['bars', 'bars', 'count'], ['seconds', 'seconds', 'seconds'], ['share', row => row.seconds / end, 'share']], rows);
}
