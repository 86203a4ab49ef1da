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
			Reason: "The in-memory compiler looks weights up by the path, and a path that climbs out reads a foreign file.",
			Fix:    "write @model_path/weights/ and a name", Source: "coremltools (D); anekit refuses it",
			check: checkPath},
		{ID: "weight-files", Severity: Warning, Compilers: []chip.Compiler{chip.InMemory},
			Title: "A program for macOS 27 has several weight files.",
			Reason: "On macOS 27 no public program with several files compiles (code 10); anekit then copies the weights into " +
				"one.", Fix: "write all weights as entries of one file",
			Source: "six projects, on M1, M4 Max and M5 Max (M)", check: checkFiles},
		{ID: "weight-budget", Severity: Note, each: true, Compilers: engineCompilers,
			Title:  "A program has more than 8 MiB of weights.",
			Reason: "Loading such a program failed on an M3 Pro in one project; a program with 272 MB runs in another.",
			Fix:    "split the program if it does not load",
			Source: "ironmill, on M3 Pro (M)", check: checkBudget},
		{ID: "load-budget", Severity: Warning, each: true, Compilers: engineCompilers,
			Title:  "More than 55 programs are loaded.",
			Reason: "All processes of the machine share its slots; loading another program fails.",
			Fix:    "unload programs, or merge them as functions",
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

// severalFiles is the first release whose framework is known to refuse several weight files.
const severalFiles chip.OS = 27

func checkFiles(c *check) {
	if c.OS != 0 && c.OS < severalFiles {
		return
	}
	first := ""
	for _, e := range c.entries() {
		if first == "" {
			first = e.path
		}
		if e.path != first {
			c.warn(e.pos, "", "%s is another weight file than %s", cut(e.path), cut(first))
			return
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
		c.note(pos, "", "%d bytes of weights; on an M3 Pro about %d were the most that loaded", sum, limit)
	}
}

func checkLoads(c *check) {
	if n := c.spec.Loaded.Value; c.Programs > n {
		c.warn(c.prog.Pos, "", "%d programs, at most %d are loaded", c.Programs, n)
	}
}
