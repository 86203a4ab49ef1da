package shapes

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/anekit/anekit/ane/mil"
)

// Flexible is what FlexibleShapeInformation says of a function's inputs, by name.
type Flexible struct {
	Default map[string][]int
	// Ranges are the least and the greatest length of each axis; a greatest length below 0 is no bound.
	Ranges map[string][][2]int
	// Enumerated are the allowed shapes, each of all inputs together, in the order of the text.
	Enumerated []map[string][]int
}

// Of reads the FlexibleShapeInformation of a function, or that of its program. Parts of another form are left out.
func Of(p *mil.Program, f *mil.Function) (x Flexible) {
	for _, part := range items(attribute(p, f)) {
		pair := items(part)
		if len(pair) != 2 {
			continue
		}
		switch name, _ := text(pair[0]); name {
		case "DefaultShapes":
			x.Default = shapesOf(pair[1])
		case "EnumeratedShapes":
			for _, e := range pairs(pair[1]) {
				x.Enumerated = append(x.Enumerated, shapesOf(e.Value))
			}
		case "RangeDims":
			x.Ranges = map[string][][2]int{}
			for _, e := range pairs(pair[1]) {
				name, ok := text(e.Key)
				if axes, good := ranges(e.Value); ok && good {
					x.Ranges[name] = axes
				}
			}
		}
	}
	return x
}

// Told reports whether the program says which shapes an input takes.
func (x Flexible) Told(name string) bool {
	return x.Default[name] != nil || x.Ranges[name] != nil || x.listed(name)
}

func (x Flexible) listed(name string) bool {
	return slices.ContainsFunc(x.Enumerated, func(e map[string][]int) bool { return e[name] != nil })
}

// Allowed says which shapes an input takes: "[1, 1..32000]", or "one of [1, 64], [1, 128]".
func (x Flexible) Allowed(name string) string {
	var all []string
	for _, e := range x.Enumerated {
		if shape := Text(e[name]); e[name] != nil && !slices.Contains(all, shape) {
			all = append(all, shape)
		}
	}
	switch ranges := x.Ranges[name]; {
	case len(all) > 8:
		return fmt.Sprintf("one of %d shapes", len(all))
	case len(all) > 0:
		return "one of " + strings.Join(all, ", ")
	case ranges != nil:
		for _, r := range ranges {
			axis := fmt.Sprintf("%d..%d", r[0], r[1])
			if r[1] < 0 {
				axis = fmt.Sprintf("%d..", r[0])
			} else if r[0] == r[1] {
				axis = strconv.Itoa(r[0])
			}
			all = append(all, axis)
		}
		return "[" + strings.Join(all, ", ") + "]"
	case x.Default[name] != nil:
		return "any shape, by default " + Text(x.Default[name])
	}
	return "any shape"
}

// attribute returns the literal of FlexibleShapeInformation, nil if there is none.
func attribute(p *mil.Program, f *mil.Function) mil.Literal {
	for _, a := range slices.Concat(f.Attrs, p.Attrs) {
		if v, ok := a.Value.(*mil.Value); ok && a.Name == "FlexibleShapeInformation" {
			return v
		}
	}
	return nil
}

// bare returns the literal inside a typed value.
func bare(l mil.Literal) mil.Literal {
	for range mil.MaxNesting {
		v, ok := l.(*mil.Value)
		if !ok || v == nil {
			break
		}
		l = v.Literal
	}
	return l
}

// items returns the items of a list or a tuple, none of another literal.
func items(l mil.Literal) []mil.Literal {
	switch l := bare(l).(type) {
	case *mil.ListLit:
		return l.Items
	case *mil.TupleLit:
		return l.Items
	}
	return nil
}

// pairs returns the pairs of a dict, none of another literal.
func pairs(l mil.Literal) []mil.Pair {
	if d, ok := bare(l).(*mil.DictLit); ok {
		return d.Pairs
	}
	return nil
}

func text(l mil.Literal) (string, bool) {
	s, ok := bare(l).(mil.StringLit)
	return s.Value, ok
}

func numbers(l mil.Literal) (list []int, ok bool) {
	for _, item := range items(l) {
		n, isNumber := bare(item).(mil.Number)
		i, err := strconv.Atoi(n.Text)
		if !isNumber || err != nil {
			return nil, false
		}
		list = append(list, i)
	}
	return list, true
}

func shapesOf(l mil.Literal) map[string][]int {
	all := map[string][]int{}
	for _, e := range pairs(l) {
		name, ok := text(e.Key)
		if shape, good := numbers(e.Value); ok && good {
			all[name] = shape
		}
	}
	return all
}

func ranges(l mil.Literal) (axes [][2]int, ok bool) {
	for _, item := range items(l) {
		ends, good := numbers(item)
		if !good || len(ends) != 2 {
			return nil, false
		}
		axes = append(axes, [2]int(ends))
	}
	return axes, true
}
