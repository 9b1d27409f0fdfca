// SPDX-License-Identifier: GPL-3.0-or-later
// The document of the page, or one that is dropped on it or opened.
'use strict';
{
  const read = text => { // a document, or a line each
    try { return JSON.parse(text); } catch { return text.trim().split('\n').map(line => JSON.parse(line)); }
  };
  const open = async file => {
    try { show(read(await file.text())); } catch { said.textContent = `${file.name} is no JSON report.`; }
  };
  const said = el('output'), field = el('input', { type: 'file', accept: '.json,application/json', 'aria-label': 'Open a JSON report', onchange: () => field.files[0] && open(field.files[0]) });
  document.getElementById('open').append('Open a JSON report of shardopt, or drop one on this page: ', field, ' ', said);
  addEventListener('dragover', event => { event.preventDefault(); document.body.classList.add('over'); });
  addEventListener('dragleave', () => document.body.classList.remove('over'));
  addEventListener('drop', event => { event.preventDefault(); document.body.classList.remove('over'); if (event.dataTransfer.files[0]) open(event.dataTransfer.files[0]); });
  show(JSON.parse(document.getElementById('document').textContent));
}
