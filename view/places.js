// SPDX-License-Identifier: GPL-3.0-or-later
// Which group holds which chip of a machine: a cell for each device, host by host, or on a torus plane by plane.
'use strict';

const CELLS_MAX = 4096, GROUPS_SAID = 16;
const holds = map => map.groups.slice(0, GROUPS_SAID).map(one => `${one.name}: ${one.where}`).join('; ') + (map.groups.length > GROUPS_SAID ? `; and ${map.groups.length - GROUPS_SAID} more, in the table` : '');
function chipMap(map) {
  const devices = map.axes.reduce((all, axis) => all * axis.size, 1), torus = map.axes.findIndex(axis => axis.kind === 'ring' || axis.kind === 'line');
  const inner = map.axes.slice(0, Math.max(0, torus)).reduce((all, axis) => all * axis.size, 1);
  const columns = torus < 0 ? Math.min(map.host_devices, 18) : inner * map.axes[torus].size;
  const cells = torus < 0 ? Math.min(map.host_devices, devices) : columns * (map.axes[torus + 1]?.size ?? 1);
  const kindOf = group => { let first = 0; for (const kind of map.kinds) { if (group < first + kind.count) return { ...kind, number: group - first + 1 }; first += kind.count; } return null; };
  const nameOf = group => { const kind = kindOf(group); return !kind ? 'idle' : kind.count > 1 ? `${kind.name} ${kind.number}` : kind.name; };
  const layers = map.layers.map(layer => layer.group.flatMap((group, i) => Array(Math.min(layer.count[i], CELLS_MAX)).fill(group)));
  const shown = Math.min(devices, CELLS_MAX), size = Math.max(10, Math.min(26, Math.floor(640 / columns)));
  const block = b => el('div', { class: 'block', style: { 'grid-template-columns': `repeat(${columns}, ${size}px)` } }, Array.from({ length: Math.min(cells, shown - b * cells) }, (_, i) => {
    const d = b * cells + i, groups = layers.map(layer => layer[d] ?? -1);
    return el('div', { class: 'cell', style: { height: size + 'px' }, 'data-tip': `device ${d + 1}: ${groups.map(nameOf).join(', then ')}` },
      groups.map(group => { const kind = kindOf(group); return el('i', { class: kind ? 'paint-' + kind.of : 'idle' }, kind && kind.count > 1 && size > 15 ? String(kind.number) : ''); }));
  }));
  return el('div', { class: 'chips' }, el('p', {}, el('strong', {}, map.name), ` ${say('count', devices)} devices${torus < 0 ? `, ${map.host_devices} in a host` : ''}${shown < devices ? `; the first ${say('count', shown)} are shown` : ''}`),
    el('div', { class: 'wide', ...WALKED, ...region('Picture: chips of ' + map.name) }, el('div', { class: 'blocks', role: 'img', 'aria-label': 'Which chips hold what: ' + map.name, 'aria-description': holds(map) }, Array.from({ length: Math.ceil(shown / cells) }, (_, b) => block(b)))), legend(map.kinds.map(kind => [kind.of, kind.name])));
}
const placesPart = (places, heading) => places ? section('mesh', heading, figure('Each cell is a chip, with the number of what holds it', el('div', {}, places.maps.map(chipMap)),
  table('Which chips hold what', [['group', 'name'], ['devices', 'devices', 'count'], ['where', 'where'], ['how it is cut', 'how']], places.maps.flatMap(map => map.groups))),
...places.within.map(one => !one.machine.axes.length ? paragraph(`${one.name}: one device. ${one.note ?? ''}`) : figure(one.name, el('div', {}, paragraph(one.note), mesh(one)),
  table('Axes and roles', [['axis', 'name'], ['size', 'size', 'count'], ['roles, neighbours first', axis => rolesText(rolesOf(one, axis))]], one.machine.axes)))) : null;
// The text report, as the program prints it.
const textPart = text => text ? el('pre', { class: 'text', ...region('The answer as text') }, text) : '';
// Where tiles have said it, narrow pages have it folded.
const textBelow = text => text && matchMedia('(max-width: 40rem)').matches ? folded('The answer as text', textPart(text)) : textPart(text);
