package lint

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/mil/blob"
)

// weightRules are about weight files and about what one process can hold.
func weightRules() []Rule {
	return []Rule{
		{ID: "blob-offset", Severity: Error, Title: "A BLOBFILE names no entry of a weight file.",
			Reason: "The offset names the 64 bytes of metadata before the elements: 64, then multiples of 64; " +
				"another one " +
				"gives garbage weights.", Fix: "write offset = uint64(64) for the first entry",
			Source: "orion rule 8 (M), coremltools (D)", check: checkOffset},
		{ID: "blob-overlap", Severity: Error, Title: "Two weights share bytes of a file without being the same entry.",
			Reason: "One of them is read from within the other.",
			Fix:    "start an entry at the first multiple of 64 after the elements before it",
			Source: "coremltools (D)",
			check:  checkOverlap},
		{ID: "blob-path", Severity: Error, Title: "A path does not lie in the folder of the model.",
			Reason: "The in-memory road looks weights up by the path, and a path that climbs out reads a foreign file.",
			Fix:    "write @model_path/weights/ and a name", Source: "coremltools (D); anekit refuses it",
			check: checkPath},
		{ID: "blob-entries", Severity: Warning, each: true, Roads: []chip.Road{chip.InMemory},
			Title:  "A weight file for M1 or M2 has several entries.",
			Reason: "M1 is reported to need a file for each weight.", Fix: "write a file for each weight",
			Source: "maderix, a report (M)", check: checkEntries},
		{ID: "weight-budget", Severity: Warning, each: true, Roads: engineRoads,
			Title:  "A program has more than 8 MiB of weights.",
			Reason: "Loading such a program failed on an M3 Pro; larger ones are known to compile.",
			Fix:    "split the program",
			Source: "ironmill, on M3 Pro (M)", check: checkBudget},
		{ID: "load-budget", Severity: Warning, each: true, Roads: engineRoads,
			Title:  "More than 55 programs are loaded.",
			Reason: "All processes of the machine share its slots; loading another program fails.", Fix: "unload programs, or merge them as functions",
			Source: "ironmill, on M3 Pro (M)", check: checkLoads},
	}
}

// entry is a place of a weight file that the program names.
type entry struct {
	path   string
	offset uint64
	end    uint64 // after the elements
	pos    mil.Pos
}

// entries lists the places of weight files, in the order of the text.
func (r *run) entries() (all []entry) {
	if r.prog == nil {
		return nil
	}
	for _, v := range r.prog.Weights() {
		p, offset, err := v.Blob().Entry()
		if err != nil {
			continue
		}
		size := uint64(0)
		if n, err := (blob.Need{Offset: offset, Type: v.Type}).Bytes(); err == nil {
			size = uint64(n)
		}
		all = append(all, entry{p, offset, offset + blob.First + size, v.Blob().Pos})
	}
	return all
}

func checkOffset(c *check) {
	for _, e := range c.entries() {
		switch {
		case e.offset == 0:
			c.error(e.pos, "", "offset 0 is the header of %s", cut(e.path))
		case e.offset%64 != 0:
			c.error(e.pos, "", "offset %d of %s is not a multiple of 64", e.offset, cut(e.path))
		case e.offset == 128:
			c.error(e.pos, "", "offset 128 of %s is where the elements of the first entry start", cut(e.path))
		}
	}
}

func checkOverlap(c *check) {
	all := c.entries()
	slices.SortStableFunc(all, func(a, b entry) int {
		return cmp.Or(strings.Compare(a.path, b.path), cmp.Compare(a.offset, b.offset))
	})
	for i := 1; i < len(all); i++ {
		a, b := all[i-1], all[i]
		if a.path == b.path && a.offset != b.offset && b.offset < a.end && b.offset%64 == 0 && a.offset > 0 &&
			b.offset != 128 {
			c.error(b.pos, "", "offset %d of %s lies within the entry at %d, which ends at %d", b.offset, cut(b.path),
				a.offset, a.end)
		}
	}
}

func checkPath(c *check) {
	for _, e := range c.entries() {
		rest, ok := strings.CutPrefix(e.path, blob.ModelPath)
		clean := path.Clean("/" + rest)
		switch {
		case !ok:
			c.error(e.pos, "", "path %s does not start with @model_path/", cut(e.path))
		case strings.HasPrefix(rest, "/") || strings.Contains("/"+rest+"/", "/../") || strings.Contains(rest, "\\") ||
			strings.Contains(rest, "\x00") ||
			clean == "/":
			c.error(e.pos, "", "path %s leaves the folder of the model", cut(e.path))
		}
	}
}

func checkEntries(c *check) {
	if !c.on(chip.M1, chip.M2) {
		return
	}
	first := map[string]uint64{}
	told := map[string]bool{}
	for _, e := range c.entries() {
		if at, known := first[e.path]; known && at != e.offset && !told[e.path] {
			told[e.path] = true
			c.warn(e.pos, "", "%s has several entries", cut(e.path))
		} else if !known {
			first[e.path] = e.offset
		}
	}
}

func checkBudget(c *check) {
	sum := uint64(0)
	seen := map[entry]bool{}
	var pos mil.Pos
	for _, e := range c.entries() {
		k := entry{path: e.path, offset: e.offset}
		if !seen[k] {
			seen[k] = true
			sum += min(e.end-e.offset, 1<<50)
		}
		if !pos.Known() {
			pos = e.pos
		}
	}
	if limit := c.spec.WeightBytes.Value; sum > uint64(limit) {
		c.warn(pos, "", "%d bytes of weights, about %d are known to load", sum, limit)
	}
}

func checkLoads(c *check) {
	if n := c.spec.Loaded.Value; c.Programs > n {
		c.warn(c.prog.Pos, "", "%d programs, at most %d are loaded", c.Programs, n)
	}
}
