package mil

import (
	"fmt"
	"maps"
	"slices"

	"github.com/anekit/anekit/internal/near"
)

// lists checks arguments and attributes that belong together: that names are valid, and no two the same. Only the
// label, the attribute name, may have the name of an argument.
func (v *validator) lists(args, attrs []Arg) {
	given := map[string]string{}
	v.args(args, given, "argument")
	v.args(attrs, given, "attribute")
}

// args adds the names of args to given, which says what each is, and checks the operands.
func (v *validator) args(args []Arg, given map[string]string, what string) {
	defer func(outer bool) { v.attributes = outer }(v.attributes)
	v.attributes = what == "attribute"
	for _, a := range args {
		if !v.partial && !identifier(a.Name) {
			v.fault(a.Pos, what+" "+quoteShort(a.Name)+" is not a name",
				"a name is ASCII letters, digits and _, and does not start with a digit")
		}
		switch first := given[a.Name]; {
		case first == "" || v.full:
		case first == what:
			v.misnamed(a.Pos, what+" "+quoteShort(a.Name)+" is given twice", "remove one")
		case a.Name != "name":
			v.misnamed(a.Pos, quoteShort(a.Name)+" is given as argument and as attribute", "remove one")
		}
		given[a.Name] = what
		v.operand(a.Value, a.Pos)
	}
}

// enter begins a nested part of the tree. If it returns true, the caller must call leave.
func (v *validator) enter(pos Pos) bool {
	if v.full || v.during.ended() {
		return false // the list of faults is full, or the context has ended
	}
	if v.depth >= MaxNesting {
		v.fault(pos, "nested too deep", "types, operands, literals and blocks nest at most 100 deep")
		return false
	}
	v.depth++
	return true
}

func (v *validator) leave() { v.depth-- }

// operand checks o; pos is the position of faults without one of their own.
func (v *validator) operand(o Operand, pos Pos) {
	if !v.enter(pos) {
		return
	}
	defer v.leave()
	if absent(o) {
		v.fault(pos, "argument without an operand", "give it a value or a name")
		return
	}
	switch o := o.(type) {
	case Ref:
		v.use(o)
	case *Value:
		if !o.Bare() {
			v.value(o)
		} else if v.literal(o.Literal, o.Pos); v.attributes && !v.partial {
			v.fault(o.Pos, shorten(literalText(o.Literal))+" has no type", "write "+typed(o.Literal))
		}
	case *Values:
		for _, item := range o.Items {
			v.operand(item, o.Pos)
		}
	case *Nested:
		v.lists(o.Args, nil)
		v.lists(nil, o.Attrs)
	}
}

// use reports a name that is not defined here.
func (v *validator) use(r Ref) {
	if _, ok := v.names[r.Name]; ok || v.full {
		return
	}
	switch at, below := v.below()[r.Name]; {
	case below && at.Known():
		v.misnamed(r.Pos, quoteShort(r.Name)+" is used before its definition",
			"it is defined at "+at.String()+"; move that up")
	case below:
		v.misnamed(r.Pos, quoteShort(r.Name)+" is used before its definition", "move the definition up")
	case v.cur == nil || !v.lost[v.cur]:
		v.misnamed(r.Pos, quoteShort(r.Name)+" is not defined",
			near.Hint(r.Name, v.known())+"define it in a statement above, or make it a parameter")
	}
}

// below returns the first definitions of all names of the function and of the blocks around the statement. It makes
// them at the first use of a name that is not defined above.
func (v *validator) below() map[string]Pos {
	if v.all == nil {
		v.all = map[string]Pos{}
		for _, b := range v.bodies {
			for _, op := range slices.Backward(append([]*Op{{Results: b.Params}}, b.Body...)) {
				if op == nil {
					continue
				}
				for _, x := range slices.Backward(op.Results) {
					v.all[x.Name] = x.At
				}
			}
		}
	}
	return v.all
}

// many is the number of names above which a fault suggests none: the search would
// take longer than the whole validation.
const many = 1000

func (v *validator) known() []string {
	if len(v.names) > many {
		return nil
	}
	return slices.Sorted(maps.Keys(v.names))
}

// unread reports whether t is missing because the parser reported a fault in it.
func (v *validator) unread(t Type) bool {
	return v.partial && t.Kind == Scalar && t.DType == NoType
}

// value checks a typed literal. One without type was reported by the parser.
func (v *validator) value(x *Value) {
	if v.unread(x.Type) {
		return
	}
	n := len(v.list)
	v.typ(x.Type, x.Pos)
	v.literal(x.Literal, x.Pos)
	if len(v.list) > n || v.full {
		return
	}
	if fault := x.check(v.during); fault != nil {
		v.fault(fault.Pos, fault.Msg, fault.Hint)
	}
}

// literal checks that MIL text can express l.
func (v *validator) literal(l Literal, pos Pos) {
	if !v.enter(pos) {
		return
	}
	defer v.leave()
	if absent(l) {
		v.fault(pos, "a literal is missing", "give a number, true, false, a string, a list or a BLOBFILE")
		return
	}
	switch l := l.(type) {
	case Number:
		if !validNumber(l.Text) {
			v.fault(l.Pos, "malformed number "+quoteShort(l.Text), "write a number such as 1, 0.5, 1e-3 or 0x1p-1")
		}
	case *Value:
		v.value(l)
	case *Blob:
		if l.Path == nil || l.Offset == nil {
			v.fault(l.Pos, "BLOBFILE needs path and offset", "give both")
			return
		}
		v.value(l.Path)
		v.value(l.Offset)
	default: // a list, a tuple or a dict
		children(l, func(n any) {
			item, _ := n.(Literal)
			v.literal(item, l.literal())
		})
	}
}

// typ checks that MIL text can express t.
func (v *validator) typ(t Type, pos Pos) {
	if !v.enter(pos) {
		return
	}
	defer v.leave()
	if msg := malformed(t); msg != "" {
		v.fault(pos, msg, "types are fp16, int32, bool, string .. and tensor<fp16, [1, 64, 1, 32]>")
		return
	}
	for _, e := range t.Elems {
		v.typ(e, pos)
	}
}

// malformed describes the fault of the outermost level of t; it is empty if there is none.
func malformed(t Type) string {
	needed := [...][2]int{Scalar: {}, Tensor: {len(t.Dims)}, State: {0, 1}, Dict: {0, 2}, List: {1, 1},
		Tuple: {0, max(1, len(t.Elems))}, TensorBuffer: {len(t.Dims)}} // numbers of Dims and Elems
	if int(t.Kind) >= len(needed) {
		return "type of an unknown kind"
	}
	for _, d := range t.Dims {
		if d.Known() && d.Size < 0 || !d.Known() && d.Symbol != "?" && !identifier(d.Symbol) {
			return "dimension " + quoteShort(d.String()) + " is neither a size nor a symbol"
		}
	}
	scalar := t.Kind == Scalar || t.Kind == Tensor || t.Kind == TensorBuffer
	switch known := t.DType != NoType && int(t.DType) < len(dtypes); {
	case scalar && !known:
		return "type without a scalar type"
	case !scalar && t.DType != NoType, [2]int{len(t.Dims), len(t.Elems)} != needed[t.Kind]:
		return "type " + quoteShort(t.String()) + " does not fit its kind"
	}
	return t.Buffer.malformed(t)
}

// malformed describes the fault of a buffer, or of one that is missing.
func (b *Buffer) malformed(t Type) string {
	if (b != nil) != (t.Kind == TensorBuffer) {
		return "type " + quoteShort(t.String()) + " does not fit its kind"
	}
	if b == nil {
		return ""
	}
	for i, list := range [][]int{b.Strides, b.Interleave} {
		if list == nil || len(list)+len(t.Dims) == 0 {
			continue
		}
		if len(list) != len(t.Dims) {
			return fmt.Sprintf("%s of a tensor_buffer has %d numbers for %d axes", bufferFields[i+1], len(list), len(t.Dims))
		}
		if slices.Min(list) < 0 || i == 1 && slices.Min(list) == 0 {
			return bufferFields[i+1] + " of a tensor_buffer has a number that is too small"
		}
	}
	return ""
}
