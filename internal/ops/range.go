package ops

import (
	"fmt"
	"math"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/element"
)

// RangeNotes returns a note on each literal of p with numbers that become infinite in its type, and one on each with
// numbers that become zero, in the order of the text and at most MaxNotes. Unlike Analyze it needs no weights.
func RangeNotes(file string, p *mil.Program) []string {
	r := ranges{file: file}
	for _, f := range p.Funcs {
		for _, op := range f.Body {
			r.args(op.Attrs)
			r.args(op.Args)
		}
	}
	return r.notes
}

// ranges collects the notes of RangeNotes.
type ranges struct {
	file  string
	notes []string
}

func (r *ranges) args(args []mil.Arg) {
	for _, a := range args {
		r.operand(a.Value)
	}
}

func (r *ranges) operand(o mil.Operand) {
	switch o := o.(type) {
	case *mil.Value:
		r.literal(o)
	case *mil.Values:
		for _, i := range o.Items {
			r.operand(i)
		}
	case *mil.Nested:
		r.args(o.Attrs)
		r.args(o.Args)
	}
}

func (r *ranges) literal(m *mil.Value) {
	d := m.Type.DType
	if len(r.notes) == MaxNotes || m.Blob() != nil || !d.Float() {
		return
	}
	numbers, err := m.Floats()
	if err != nil {
		return // Analyze reports it
	}
	for _, text := range outOfRange(d, numbers, encodeFloats(d, numbers)) {
		if len(r.notes) < MaxNotes {
			r.notes = append(r.notes, (&mil.Error{File: r.file, Pos: m.Pos, Msg: text}).Error())
		}
	}
}

// outOfRange returns a note on the numbers of a literal that became infinite and one on those that became zero
// when they were rounded to its type. data holds the rounded numbers.
func outOfRange(d mil.DType, numbers []float64, data []byte) (notes []string) {
	size := d.Size()
	infinite, zero, firstInfinite, firstZero := 0, 0, 0.0, 0.0
	for i, x := range numbers {
		switch y := element.Load(d, data[i*size:]); {
		case math.IsInf(y, 0) && !math.IsInf(x, 0):
			if infinite++; infinite == 1 {
				firstInfinite = x
			}
		case y == 0 && x != 0:
			if zero++; zero == 1 {
				firstZero = x
			}
		}
	}
	if infinite > 0 {
		notes = append(notes, fmt.Sprintf("%v(%g) is beyond the range of its type and becomes infinite%s; write inf "+
			"if that is meant", d, firstInfinite, others(infinite)))
	}
	if zero > 0 {
		notes = append(notes, fmt.Sprintf("%v(%g) is too small for its type and becomes 0%s; use a type of larger "+
			"range", d, firstZero, others(zero)))
	}
	return notes
}

// others mentions the n-1 elements that a message does not show.
func others(n int) string {
	switch n {
	case 1:
		return ""
	case 2:
		return ", and so does 1 other element"
	}
	return fmt.Sprintf(", and so do %d other elements", n-1)
}
