# SPDX-License-Identifier: BSD-2-Clause
"""A static site of the versions: an overview, a page for each call, any two versions compared, a
feed of jumps, and the data. It opens from a folder, without a server."""

import json
import math
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from html import escape
from itertools import combinations, pairwise
from pathlib import Path
from typing import Any

from teemark.base.console import json_text
from teemark.base.errors import UsageMistake
from teemark.base.files import write_whole
from teemark.model.compare import counted
from teemark.page import html
from teemark.page.bars import FONT, label, picture
from teemark.releases import table
from teemark.releases.jumps import Bisected, Jump, cases
from teemark.releases.points import Kept, whole
from teemark.report.comparing import SIGN, signed
from teemark.version import __version__
from teemark.wording import fmt

MARK = ".teemark-site"
"""The file that says that a folder's content may be replaced."""


@dataclass(frozen=True)
class Site:
    points: Sequence[Kept]
    jumps: Sequence[Jump]
    bisections: Sequence[Bisected]
    threshold: float

    @cached_property
    def names(self) -> list[str]:
        return [kept.name for kept in whole(self.points)]

    @cached_property
    def costs(self) -> dict[str, list[float | None]]:
        """Returns each call's instructions in each measured version."""
        measured = whole(self.points)
        return {case: [kept.cost(case) for kept in measured] for case in cases(self.points)}

    def files(self) -> Iterator[tuple[str, str]]:
        """Yields the site's files: their paths and contents."""
        environment = html.environment("releases", "page")
        environment.globals |= {"site": self, "version": __version__, "up": ""}
        environment.filters |= {"figure": table.figure, "address": address, "change": _change}
        environment.filters["commit"] = table.commit

        def page(name: str, title: str = "", lead: str = "", **more: Any) -> str:
            template = environment.get_template(f"{name}.j2")
            return template.render(page=name, title=title, lead=lead, **more)

        css = [environment.get_template(f"{name}.css").render() for name in ("report", "site")]
        yield "style.css", "\n".join(css)
        yield "data.json", json_text(table.data(self.points, self.jumps, self.bisections))
        newest = sorted(self.jumps, key=lambda jump: -self.names.index(jump.after.name))
        updated = max(kept.point.version.date for kept in self.points)
        yield "jumps.xml", page("jumps.xml", updated=updated, jumps=newest)
        lead = table.answer(self.points, self.jumps)
        limit, notes = fmt.percent(self.threshold), table.notes(self.points)
        title = "What calls into OP-TEE cost, by version"
        yield "index.html", page("index.html", title, lead, threshold=limit, notes=notes)
        title = "Two versions of OP-TEE"
        lead = "Pick two versions: each call, by the judge of `teemark compare`."
        yield "compare.html", page("compare.html", title, lead, data=self._pairs())
        lead = f"Instructions of a call in {fmt.plural(len(self.names), 'version')} of OP-TEE."
        for case in self.costs:
            yield address(case), page("case.html", case, lead, rows=self._rows(case), up="../")

    def write(self, folder: Path) -> None:
        """Writes the site into a folder: an empty one, or one that has such a site, which it
        replaces. Raises UsageMistake if it has anything else, or if no version was measured."""
        if folder.is_dir() and any(folder.iterdir()) and not (folder / MARK).is_file():
            raise UsageMistake(f"{folder} has other files", hint="name a new folder by --site")
        if not self.names:
            raise UsageMistake(
                "no version was measured, so there is no site", hint="--retry tries again"
            )
        files = list(self.files())
        shutil.rmtree(folder / "calls", ignore_errors=True)
        write_whole(folder / MARK, "")
        for name, content in files:
            write_whole(folder / name, content)

    def mark(self, jump: Jump) -> str:
        return f"{SIGN[jump.pair.verdict]} {signed(jump.pair.change)}"

    def of(self, case: str) -> list[Jump]:
        found = [jump for jump in self.jumps if jump.pair.case == case]
        return sorted(found, key=lambda jump: self.names.index(jump.after.name))

    def course(self, case: str, width: int, height: int, top: int = 0) -> str:
        """Draws a call's course as steps, on a logarithmic scale, with a mark at each jump. With
        room at the top, also the jumps' sizes and the versions' names."""
        values = [(place, value) for place, value in enumerate(self.costs[case]) if value]
        low, high = (math.log(end(value for _, value in values)) for end in (min, max))
        middle, half = (low + high) / 2, max((high - low) / 2, 0.05)
        step = width / len(self.names)

        def y(value: float) -> float:
            return top + (height - top) / 2 * (1 - 0.9 * (math.log(value) - middle) / half)

        path = "".join(
            f"{'L' if place else 'M'}{step * at:.4g} {y(value):.4g}H{step * (at + 1):.4g}"
            for place, (at, value) in enumerate(values)
        )
        svg = [f'<path d="{path}"/>']
        for jump in self.of(case):
            x, title = step * self.names.index(jump.after.name), escape(self._words(jump))
            at = f'cx="{x:.4g}" cy="{y(jump.pair.second.value):.4g}"'
            svg.append(
                f'<circle class="{jump.pair.verdict}" {at} r="4"><title>{title}</title></circle>'
            )
            if top:
                side = "end" if x > width * 0.7 else "start"
                above = y(jump.pair.second.value) - FONT - 8
                svg.append(label(x, above, self.mark(jump), side, "ink"))
        if not top:
            spoken = "; ".join(map(self._words, self.of(case))) or "no jump"
            return picture(width, height, svg, spoken)
        every = max(1, math.ceil(FONT * 4 * len(self.names) / width))
        for place in range(len(self.names) - 1, -1, -every):
            svg.append(label(step * (place + 0.5), height + 6, self.names[place], "middle"))
        return picture(width, height + 30, svg)

    def _words(self, jump: Jump) -> str:
        commit = table.commit(jump.bisected)
        return ", ".join(filter(None, (f"{jump.after.name}: {self.mark(jump)}", commit)))

    def _rows(self, case: str) -> list[tuple[str, str, str, str]]:
        costs, measured = self.costs[case], whole(self.points)
        verdicts = {jump.after.name: jump.pair.verdict for jump in self.of(case)}
        changes = ["", *(_change(*pair) for pair in pairwise(costs))]
        return [
            (kept.name, table.cell(kept, case), change, verdicts.get(kept.name, ""))
            for kept, change in zip(measured, changes, strict=True)
        ]

    def _pairs(self) -> str:
        """Returns the data of the page that compares, as JSON that may stand in HTML."""
        verdicts = {}
        for (a, first), (b, second) in combinations(enumerate(whole(self.points)), 2):
            judged = {pair.case: pair.verdict for pair in counted(first.readings, second.readings)}
            verdicts[f"{a}-{b}"] = "".join(judged.get(case, "-")[0] for case in self.costs)
        data = {
            "versions": self.names,
            "cases": list(self.costs),
            "pages": [address(case) for case in self.costs],
            "costs": list(self.costs.values()),
            "verdicts": verdicts,
        }
        return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


def address(case: str) -> str:
    """Returns the path of a call's page."""
    return f"calls/{re.sub(r'[^A-Za-z0-9.-]+', '-', case)}.html"


def _change(before: float | None, after: float | None) -> str:
    if not before or after is None:
        return fmt.NONE
    return signed(after / before - 1) if after != before else "0"
