# SPDX-License-Identifier: GPL-3.0-or-later
"""A set of profiles as a fit sees it: figures, who inherits them, and what is believed of them without runs.

The document is the JSON of cost/profile/profile_set.h. A figure is named (list, entry, key): ("stacks", "maxtext",
"data_exposed"). An entry inherits from its parent ("kin") the figures that it does not give itself. A figure that may
move has a prior: `prior`, or `prior` times the figure that `of` names, with the deviation `sigma` of its logarithm."""
import copy
import json
from dataclasses import dataclass

LISTS = ("profiles", "stacks")
# The source of figures that own_figures() adds.
OWN = "calibrate: by runs of this entry alone; assumed equal to its parent's"


@dataclass(frozen=True)
class Kind:
    """A row of the program's table of figures (cost/profile/profile_figure.h)."""
    key: str
    owner: str  # "profiles" or "stacks"
    low: float  # of a file
    high: float
    fit_low: float  # of a fit
    fit_high: float
    sigma: float  # where the file gives none


class Set:
    def __init__(self, document, kinds, added=()):
        self.document = document
        self.added = set(added)  # by own_figures()
        self.kinds = {kind.key: kind for kind in kinds}  # in the order of the table

    def copy(self):
        return Set(copy.deepcopy(self.document), self.kinds.values(), self.added)

    def at(self, figure):
        """The figure's own object: value, prior, of, sigma, deviation, runs, determined, source."""
        of, entry, key = figure
        return self.document[of][entry][key]

    def parent(self, of, entry):
        return self.document[of][entry].get("kin")

    def giver(self, of, entry, key):
        """The figure that an entry takes, its own or an ancestor's; None: the value of `ideal`."""
        while entry:
            if key in self.document[of][entry]:
                return of, entry, key
            entry = self.parent(of, entry)
        return None

    def figures(self):
        """All figures, profiles before stacks, entries as in the file, figures as in the table."""
        for of in LISTS:
            for entry, figures in self.document[of].items():
                for key in self.kinds:
                    if key in figures:
                        yield of, entry, key

    def sigma(self, figure):
        """Deviation of the logarithm of the prior; 0: the figure is fixed."""
        own = self.at(figure)
        return own.get("sigma", self.kinds[figure[2]].sigma) if "prior" in own else 0

    def followed(self, figure):
        """The figure that the prior is a multiple of; None: the prior stands for itself."""
        of, _, key = figure
        name = self.at(figure).get("of")
        if not name:
            return None
        if name in self.document[of]:
            return self.giver(of, name, key)
        entry, _, other = name.rpartition(".")  # names of entries may have dots, keys of figures may not
        return self.giver(of, entry, other)

    def prior(self, figure):
        followed = self.followed(figure)
        return self.at(figure)["prior"] * (self.at(followed)["value"] if followed else 1)

    def descends(self, of, entry, name):
        while entry and entry != name:
            entry = self.parent(of, entry)
        return entry is not None

    def movable(self, only=None):
        """The figures that a fit may move; with `only` those of this entry and of its descendants."""
        return [f for f in self.figures() if self.sigma(f) > 0 and (not only or self.descends(f[0], f[1], only))]

    def put_priors(self, only=None, but=frozenset()):
        """Puts every figure that may move to its prior, but for these. A prior may follow another figure of any entry:
        there is one round for each link of the longest chain."""
        figures, changed = [f for f in self.movable(only) if f not in but], True
        while changed:
            changed = False
            for figure in figures:
                kind, own = self.kinds[figure[2]], self.at(figure)
                value = min(max(self.prior(figure), kind.fit_low), kind.fit_high)
                changed |= own["value"] != value
                own.update(value=value, deviation=self.sigma(figure), runs=0, determined=False)

    def own_figures(self, used):
        """Gives these (list, entry) figures of their own for all that they inherit and that may move, believed to equal
        their parent's: runs of one cluster say something of its chip and software alone."""
        for of in LISTS:
            for entry in reversed(self.document[of]):  # what is taken must still be where the parent has it
                parent = self.parent(of, entry)
                if (of, entry) not in used or not parent:
                    continue
                for key in self.kinds:
                    taken = self.giver(of, entry, key)
                    if taken and taken[1] != entry and self.sigma(taken) > 0:
                        self.added.add((of, entry, key))
                        self.document[of][entry][key] = {
                            **self.at(taken), "prior": 1, "of": parent, "sigma": self.sigma(taken), "runs": 0,
                            "deviation": self.at(taken).get("deviation", 0), "determined": False, "source": OWN}

    def drop_own(self):
        """Removes those of them that runs did not determine."""
        for of, entry, key in self.added:
            if not self.at((of, entry, key))["determined"]:
                del self.document[of][entry][key]
        self.added = set()

    def for_file(self):
        """The document as the program reads it: a figure that no fit has moved has neither deviation nor runs."""
        out = copy.deepcopy(self.document)
        for of, entry, key in self.figures():
            if not out[of][entry][key].get("deviation"):
                for fit in ("deviation", "runs", "determined"):
                    out[of][entry][key].pop(fit, None)
        return out


class Line:
    """A set as one line of JSON without all that no price depends on, of which values can be replaced."""

    def __init__(self, profiles, entries):
        """`entries`: the (list, entry) whose figures runs take; their ancestors are added."""
        self.slots, parts = {}, []
        wanted = set()
        for of, entry in entries:
            while entry:
                wanted.add((of, entry))
                entry = profiles.parent(of, entry)
        slim = {"name": "fit", "date": profiles.document["date"], "source": "-", "profiles": {}, "stacks": {}}
        for of in LISTS:
            for entry, own in profiles.document[of].items():
                if (of, entry) not in wanted:
                    continue
                kept = slim[of][entry] = {k: own[k] for k in ("kin", "untuned", "chips", "scaleup", "tile_padding")
                                          if k in own}
                kept["source"] = "-"
                for key in profiles.kinds:
                    if key in own:
                        kept[key] = {"value": f"@{len(self.slots)}@", "source": "-"}
                        self.slots[of, entry, key] = len(self.slots)
        pieces = json.dumps(slim, separators=(",", ":")).split('"@')
        parts = [pieces[0]]
        for piece in pieces[1:]:
            _, rest = piece.split('@"', 1)
            parts += ["", rest]
        self.parts = parts
        self.put({f: profiles.at(f)["value"] for f in self.slots})

    def put(self, values):
        for figure, value in values.items():
            if figure in self.slots:
                self.parts[2 * self.slots[figure] + 1] = repr(float(value))

    def text(self):
        return "".join(self.parts)
