package lint

import (
	"fmt"
	"slices"
	"sort"

	"github.com/anekit/anekit/ane/chip"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/ops"
)

// surfaceRules are about the inputs and outputs of a program.
func surfaceRules() []Rule {
	return []Rule{
		{ID: "unsorted-inputs", Severity: Warning, Fixable: true, Compilers: []chip.Compiler{chip.InMemory},
			Title: "The names of the inputs are not in sorted order.",
			Reason: "Surfaces bind in the order of the names' bytes, so that a caller who binds in the declared " +
				"order " +
				"swaps them.",
			Fix:    "choose names whose sorted order is the declared one",
			Source: "orion rules 3, 13: all 6 permutations (M)",
			check:  func(c *check) { checkSorted(c, true) }},
		{ID: "unsorted-outputs", Severity: Warning, Fixable: true, Compilers: []chip.Compiler{chip.InMemory},
			Title: "The names of the outputs are not in sorted order.",
			Reason: "Surfaces bind in the order of the names' bytes, so that a caller who binds in the declared " +
				"order " +
				"swaps them.",
			Fix: "choose names whose sorted order is the declared one", Source: "orion rules 3, 13 (M)",
			check: func(c *check) { checkSorted(c, false) }},
		{ID: "equal-sizes", Severity: Warning, Compilers: []chip.Compiler{chip.InMemory},
			Title: "The surfaces of the inputs, or those of the outputs, differ in size, and the caller makes them.",
			Reason: "Two projects met 0x1d or wrong data unless all had one size; two others run unequal outputs. " +
				"ane.Model.NewRequest makes all of one size.",
			Fix: "give every surface the largest size", Source: "orion rules 2, 12, ironmill (M); Espresso, " +
				"ane-infer " +
				"run unequal outputs (M)",
			check: checkEqual},
		{ID: "padded-width", Severity: Note, Compilers: engineCompilers,
			Title:  "The rows of an input or output do not fill 64 bytes.",
			Reason: "Each row takes a multiple of 64 bytes, so that packed data is read at the wrong places.",
			Fix:    "use a width that is a multiple of 32 for fp16, 16 for fp32, 64 for a byte",
			Source: "tmc, ironmill (M)",
			check:  checkWidth},
		{ID: "small-surface", Severity: Note, Compilers: []chip.Compiler{chip.InMemory},
			Title: "A surface needs less than 48 KiB, and the caller makes it.",
			Reason: "Below 48 KiB one project met status 0x1d at evaluate; at least five run surfaces of the " +
				"tensor's bytes. ane.Model.NewRequest makes 48 KiB or more.",
			Fix: "allocate 49152 bytes or more", Source: "orion rule 4 (M); five others run less (M)",
			check: checkSmall},
		{ID: "large-surface", Severity: Error, each: true, placed: true, Title: "A surface has more than 256 MiB.",
			Reason: "It cannot be mapped: Program IOSurfaces map failure.", Fix: "split the tensor",
			Source: "rane (D)", check: checkLarge},
		{ID: "io-type", Severity: Error, placed: true, Title: "The compiler takes no surfaces of this type.",
			Reason: "The program is refused.", Fix: "use fp16, or cast in the program",
			Source: "ironmill, on M3 Pro (M); forge, on M5 (M)", check: checkTypesOfSurfaces},
		{ID: "fp32-io", Severity: Warning, each: true, Compilers: []chip.Compiler{chip.InMemory},
			Title:  "A program for M1 or M2 has fp32 inputs or outputs.",
			Reason: "M1 and M2 are reported to need fp16 inputs and outputs without cast.", Fix: "convert on the host",
			Source: "maderix, a pull request (M); ANE-LM ships that", check: checkWide},
		{ID: "fp32-arithmetic", Severity: Warning, placed: true, Compilers: engineCompilers,
			Title:  "An operation computes in fp32 or in a whole-number type.",
			Reason: "The engine stores fp16; other types exist only at its edges.", Fix: "cast to fp16 first",
			Source: "guide, on M1 (M)", check: checkFP32},
	}
}

// sides visits the inputs and the outputs of the functions.
func (r *run) sides(visit func(f *function, side string, list []*value)) {
	for _, f := range r.funcs {
		visit(f, "input", f.inputs)
		visit(f, "output", f.outputs)
	}
}

// surfaces visits every input and output of fixed shape, once.
func (r *run) surfaces(visit func(side string, v *value)) {
	r.sides(func(_ *function, side string, list []*value) {
		for _, v := range list {
			if v.fixed && (side == "input" || !v.input) && v.lit == nil {
				visit(side, v)
			}
		}
	})
}

func checkSorted(c *check, inputs bool) {
	c.sides(func(f *function, side string, list []*value) {
		if inputs != (side == "input") || slices.IsSortedFunc(list, func(a, b *value) int {
			return compare(a.name,
				b.name)
		}) {
			return
		}
		names, sorted := []string{}, []string{}
		for _, v := range list {
			names = append(names, cut(v.name))
		}
		sorted = append(sorted, names...)
		sort.Strings(sorted)
		pos := list[0].at
		if !inputs && len(f.Results) > 0 {
			pos = f.Results[0].Pos
		}
		c.fixed(c.renamed(f, side, list)).warn(pos, "", "function %s: the %ss are declared as %v and bound as %v",
			cut(f.Name), side, names, sorted)
	})
}

func compare(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// renamed gives values names whose sorted order is that of the list: i0_b, i1_a.
func (r *run) renamed(f *function, side string, list []*value) (edits []Edit) {
	if r.text == nil {
		return nil
	}
	for prefix := side[:1]; ; prefix += side[:1] {
		to := map[string]string{}
		free := true
		for i, v := range list {
			name := fmt.Sprintf("%s%0*d_%s", prefix, len(fmt.Sprint(len(list)-1)), i, v.name)
			to[v.name] = name
			free = free && r.unused(name)
		}
		if !free {
			continue
		}
		change := func(p mil.Pos, name string) {
			if new, ok := to[name]; ok {
				edits = append(edits, r.text.rename(p, name, new)...)
			}
		}
		for _, p := range f.Params {
			change(p.At, p.Name)
		}
		for _, op := range f.Body {
			for _, v := range op.Results {
				change(v.At, v.Name)
			}
			refs(op.Args, change)
			refs(op.Attrs, change)
		}
		for _, v := range f.Results {
			change(v.Pos, v.Name)
		}
		return edits
	}
}

// unused reports whether no function has a value of this name.
func (r *run) unused(name string) bool {
	return !slices.ContainsFunc(r.funcs, func(f *function) bool { return f.values[name] != nil })
}

// refs visits the names that arguments hold.
func refs(args []mil.Arg, visit func(mil.Pos, string)) {
	for _, a := range args {
		refsOf(a.Value, visit)
	}
}

func refsOf(o mil.Operand, visit func(mil.Pos, string)) {
	switch o := o.(type) {
	case mil.Ref:
		visit(o.Pos, o.Name)
	case *mil.Values:
		for _, i := range o.Items {
			refsOf(i, visit)
		}
	case *mil.Nested:
		refs(o.Args, visit)
		refs(o.Attrs, visit)
	}
}

func checkEqual(c *check) {
	if !c.OwnSurfaces {
		return
	}
	c.sides(func(f *function, side string, list []*value) {
		small, large := 0, 0
		for _, v := range list {
			n := v.surface()
			if n == 0 || v.state {
				continue
			}
			if small == 0 || n < small {
				small = n
			}
			large = max(large, n)
		}
		if small != large {
			pos := f.Pos
			if len(list) > 0 {
				pos = list[0].at
			}
			c.warn(pos, "", "function %s: the %ss need %d to %d bytes", cut(f.Name), side, small, large)
		}
	})
}

func checkWidth(c *check) {
	c.surfaces(func(side string, v *value) {
		_, _, _, w := v.nchw()
		if row := w * max(v.dtype.Bits(), 8) / 8; row%64 != 0 {
			c.note(v.at, "", "%s %s: rows of %d bytes are padded to %d", side, cut(v.name), row, (row+63)/64*64)
		}
	})
}

func checkSmall(c *check) {
	if !c.OwnSurfaces {
		return
	}
	least := int(c.first().MinSurface.Value)
	c.surfaces(func(side string, v *value) {
		if n := v.surface(); n > 0 && n < least {
			c.note(v.at, "", "%s %s needs %d bytes", side, cut(v.name), n)
		}
	})
}

// first returns the figures of the first chip, for limits that all chips share.
func (r *run) first() chip.Spec {
	if len(r.Chips) == 0 {
		return chip.M6.Spec()
	}
	return r.Chips[0].Spec()
}

func checkLarge(c *check) {
	c.surfaces(func(side string, v *value) {
		if n := v.surface(); int64(n) > c.spec.SurfaceBytes.Value {
			c.error(v.at, "", "%s %s needs %d bytes, at most %d", side, cut(v.name), n, c.spec.SurfaceBytes.Value)
		}
	})
}

func checkTypesOfSurfaces(c *check) {
	refused := []mil.DType{mil.Int8, mil.Int32, mil.UInt32, mil.Int64, mil.UInt64, mil.FP64, mil.BF16, mil.String}
	doubtful := []mil.DType{mil.UInt8, mil.Int16, mil.UInt16}
	if c.compiler == chip.E5 {
		refused = []mil.DType{mil.FP32, mil.Int32, mil.UInt32, mil.Bool, mil.Int64, mil.UInt64, mil.FP64, mil.BF16,
			mil.String}
		doubtful = nil
	}
	if c.compiler == chip.CoreML {
		refused, doubtful = []mil.DType{mil.Int32, mil.UInt32, mil.Int64, mil.UInt64, mil.FP64, mil.String}, nil
	}
	c.surfaces(func(side string, v *value) {
		switch {
		case slices.Contains(refused, v.dtype) || v.dtype.Bits() < 8 && v.dtype.Integer():
			c.error(v.at, "", "%s %s is %v, which the %v compiler does not take", side, cut(v.name), v.dtype, c.compiler)
		case slices.Contains(doubtful, v.dtype):
			c.warn(v.at, "", "%s %s is %v, of which no program for the %v compiler is known", side, cut(v.name), v.dtype,
				c.compiler)
		}
	})
}

func checkWide(c *check) {
	if !c.on(chip.M1, chip.M2) {
		return
	}
	c.surfaces(func(side string, v *value) {
		if v.dtype == mil.FP32 {
			c.warn(v.at, "", "%s %s is fp32", side, cut(v.name))
		}
	})
}

func checkFP32(c *check) {
	c.each(func(_ *function, s *stmt) {
		out := s.result()
		if out == nil || s.constexpr() || s.family() == ops.Conversions || s.moves() {
			return
		}
		if d := out.dtype; d == mil.FP32 || d == mil.FP64 || d.Integer() {
			c.warn(s.Pos, "", "%s computes in %v", s.Kind, d)
		}
	})
}
