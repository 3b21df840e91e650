// Sorting and filtering the matrix. Opening a cell needs no script: it is a link to its findings,
// which take the focus as the target of a link does.
'use strict';
const table = document.getElementById('matrix');
const rows = () => [...table.tBodies[0].rows];
const heads = [...table.tHead.rows[0].cells];
const filter = document.getElementById('filter');
const status = document.getElementById('status');

function order(column, falling) {
  const value = (row) => row.cells[column].dataset.value ?? row.cells[column].textContent;
  const compare = (a, b) => (column === 0 ? value(a).localeCompare(value(b)) : value(a) - value(b));
  table.tBodies[0].append(...rows().sort((a, b) => (falling ? compare(b, a) : compare(a, b))));
  heads.forEach((head) => head.removeAttribute('aria-sort'));
  heads[column].setAttribute('aria-sort', falling ? 'descending' : 'ascending');
}

heads.forEach((head, column) => head.querySelector('button').addEventListener('click', () => {
  const sorted = head.getAttribute('aria-sort');
  order(column, sorted ? sorted === 'ascending' : column !== 0);
}));

filter.addEventListener('input', () => {
  const wanted = filter.value.trim().toLowerCase();
  for (const row of rows()) row.hidden = !row.dataset.words.includes(wanted);
  status.textContent = `${rows().filter((row) => !row.hidden).length} of ${rows().length} shown`;
});

document.getElementById('tools').hidden = false;
