// SPDX-License-Identifier: BSD-2-Clause
// Compares the two runs that are chosen: each case that both have, the largest change first.
"use strict";
const runs = JSON.parse(document.getElementById("data").textContent);
const panel = document.getElementById("compared");
const SHOWN = 15;

function chosen(name) {
  const radio = document.querySelector(`input[name=${name}]:checked`);
  return radio && runs[radio.value];
}

function figure(value, unit) {
  if (unit === "ns") {
    const [by, name] = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]].find(([by]) => value >= by) || [1, "ns"];
    return `${(value / by).toPrecision(3)} ${name}`;
  }
  return Math.round(value).toLocaleString("en").replace(/,/g, "\u202f");
}

function add(parent, tag, text, side) {
  const made = parent.appendChild(document.createElement(tag));
  made.textContent = text;
  if (side) made.className = side;
  return made;
}

function compare() {
  const [base, next] = [chosen("base"), chosen("new")];
  panel.textContent = "";
  panel.hidden = !base || !next;
  if (panel.hidden) return;
  add(panel, "h2", `${base.name} → ${next.name}`);
  if (base.unit !== next.unit) {
    add(panel, "p", "One run counts instructions and the other measures time: their ratio has no meaning.");
    return;
  }
  const cases = Object.keys(base.figures).filter((key) => key in next.figures && base.figures[key] > 0);
  cases.sort((a, b) => Math.abs(Math.log(next.figures[b] / base.figures[b])) - Math.abs(Math.log(next.figures[a] / base.figures[a])));
  const [dearer, cheaper] = [1, -1].map((sign) => cases.filter((key) => sign * (next.figures[key] / base.figures[key] - 1) > 0.01).length);
  add(panel, "p", `${cases.length} cases in both: ${dearer} take over 1 % more, ${cheaper} over 1 % less. These are medians. To see which differences are more than chance:`);
  add(panel, "code", `teemark compare ${base.folder} ${next.folder}`);
  const table = add(panel, "table", "");
  const head = add(add(table, "thead", ""), "tr", "");
  for (const title of ["case", "base", "new", "change"]) add(head, "th", title, title === "case" ? "left" : "right").scope = "col";
  const body = add(table, "tbody", "");
  for (const key of cases.slice(0, SHOWN)) {
    const row = add(body, "tr", "");
    const change = 100 * (next.figures[key] / base.figures[key] - 1);
    add(row, "td", key, "left");
    add(row, "td", figure(base.figures[key], base.unit), "right");
    add(row, "td", figure(next.figures[key], next.unit), "right");
    add(row, "td", `${change > 0 ? "+" : ""}${change.toFixed(1)} %`, `right ${change > 1 ? "worse" : change < -1 ? "better" : ""}`);
  }
  if (cases.length > SHOWN) add(panel, "p", `${cases.length - SHOWN} more changed less.`);
}

document.addEventListener("change", compare);
compare();
