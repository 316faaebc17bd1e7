/* SPDX-License-Identifier: BSD-2-Clause */
// Shows two versions beside each other. The verdicts are those of `teemark compare`, one letter for
// each case and pair of versions (the older version first).
"use strict";
const { versions, cases, pages, costs, verdicts } = JSON.parse(document.getElementById("data").textContent);
const [from, to] = ["from", "to"].map((id) => document.getElementById(id));
const words = { w: "worse", b: "better", s: "same", u: "undecided", "-": "not measured in both" };
const signs = { w: "▲", b: "▼", s: "=", u: "?", "-": "" };
const turned = { w: "b", b: "w" };
const count = (value) => (value === null ? "–" : Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, " "));
for (const select of [from, to])
  versions.forEach((name, place) => select.add(new Option(name, place)));
function pick() {
  const asked = /^#(\d+)-(\d+)$/.exec(location.hash) || [0, 0, versions.length - 1];
  from.value = asked[1];
  to.value = asked[2];
}
function cell(row, text, title, side, node) {
  const made = row.insertCell();
  made.className = side;
  made.dataset.title = title;
  made.append(node || text);
  return made;
}
function show() {
  const [a, b] = [+from.value, +to.value];
  const letters = a === b ? "" : verdicts[`${Math.min(a, b)}-${Math.max(a, b)}`];
  const rows = cases.map((name, place) => {
    let letter = a === b ? "s" : letters[place];
    if (a > b) letter = turned[letter] || letter;
    const [before, after] = [costs[place][a], costs[place][b]];
    const change = before && after !== null ? after / before - 1 : 0;
    return { name, place, letter, before, after, change };
  });
  rows.sort((x, y) => Math.abs(Math.log1p(y.change)) - Math.abs(Math.log1p(x.change)));
  const body = document.getElementById("rows");
  body.replaceChildren();
  for (const { name, place, letter, before, after, change } of rows) {
    const row = body.insertRow();
    const link = document.createElement("a");
    link.href = pages[place];
    link.append(Object.assign(document.createElement("code"), { textContent: name }));
    cell(row, "", "call", "left", link);
    cell(row, count(before), "before", "right");
    cell(row, count(after), "after", "right");
    const percent = (100 * change).toPrecision(3).replace("-", "−");
    cell(row, letter === "w" || letter === "b" ? `${change > 0 ? "+" : ""}${percent} %` : "", "change", "right");
    const mark = document.createElement("strong");
    mark.className = words[letter].split(" ")[0];
    mark.textContent = `${signs[letter]} ${words[letter]}`;
    cell(row, "", "verdict", "left", mark);
  }
  const number = (letter) => rows.filter((row) => row.letter === letter).length;
  document.getElementById("answer").textContent =
    `${versions[a]} → ${versions[b]}: ${number("w")} of ${cases.length} calls are worse, ` +
    `${number("b")} better, ${number("s")} the same.`;
  history.replaceState(null, "", `#${a}-${b}`);
}
pick();
show();
from.addEventListener("change", show);
to.addEventListener("change", show);
addEventListener("hashchange", () => { pick(); show(); });
