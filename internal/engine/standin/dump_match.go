package standin

import "slices"

// is reports whether a program has the tensors of the dump: by their names, and where the
// dump has their types and axes, by those. Another program of equal names is not the dump's.
func (p *DumpedProgram) is(q *program) bool {
	if p == nil {
		return false
	}
	var in, out []string
	for _, f := range q.procedures {
		for _, t := range f.in {
			in = append(in, t.name)
			if !fits(p.Inputs, t) {
				return false
			}
		}
		for _, t := range f.out {
			out = append(out, t.name)
			if !fits(p.Outputs, t) {
				return false
			}
		}
	}
	names := func(list []DumpedTensor) (n []string) {
		for _, t := range list {
			n = append(n, t.Name)
		}
		return n
	}
	return sameSet(in, names(p.Inputs)) && sameSet(out, names(p.Outputs))
}

// fits reports whether one of the dump's tensors of that name can be the text's.
func fits(list []DumpedTensor, p port) bool {
	named := false
	for _, t := range list {
		if t.Name != p.name {
			continue
		}
		if t.means(p) {
			return true
		}
		named = true
	}
	return !named
}

// means reports whether type and axes are the text's. What the dump does not say, or
// says in a way that nothing can have, means any.
func (t DumpedTensor) means(p port) bool {
	if own := typeNames[p.dtype]; t.Type != own && isType(t.Type) {
		return false
	}
	lengths := [...]int64{axisN: t.Batches, axisD: max(t.Depth, 1), axisC: t.Channels, axisH: t.Height, axisW: t.Width}
	for _, n := range lengths {
		if n < 1 || n > mostBytes {
			return true
		}
	}
	_, ok := axesOf(p.shape, lengths)
	return ok
}

func isType(name string) bool {
	for _, known := range typeNames {
		if name == known {
			return true
		}
	}
	return false
}

func sameSet(a, b []string) bool {
	slices.Sort(a)
	slices.Sort(b)
	return slices.Equal(slices.Compact(a), slices.Compact(b))
}

// arrange puts the tensors of a program where the dump has them, and has requests name
// its procedures in the dump's order.
func (p *DumpedProgram) arrange(q *program) {
	if len(p.procedures) == 0 { // requests then name them as the text has them
		return
	}
	found := make([]*procedure, len(p.procedures))
	for i, d := range p.procedures {
		at := slices.IndexFunc(q.procedures, func(f *procedure) bool { return f.name == d.name })
		if at < 0 && i < len(q.procedures) {
			at = i
		}
		if at < 0 || slices.Contains(found, q.procedures[at]) {
			continue
		}
		f := q.procedures[at]
		in, inputs := d.in, true
		if f.in, inputs = arranged(f.in, in); !inputs {
			continue
		}
		out, outputs := arranged(f.out, d.out)
		if f.out = out; outputs {
			f.index = uint32(i)
			found[i] = f
		}
	}
	q.named = found
}

// arranged is the ports in the order of the dump, where it has all of them.
func arranged(ports []port, dumped []DumpedTensor) ([]port, bool) {
	if len(dumped) == 0 && len(ports) > 0 { // the dump does not list this side
		return ports, true
	}
	list := make([]port, 0, len(ports))
	for _, t := range dumped {
		at := slices.IndexFunc(ports, func(p port) bool { return p.name == t.Name })
		if at < 0 {
			return ports, false
		}
		p := ports[at]
		p.spot = t.spot(p)
		list = append(list, p)
	}
	return list, len(list) == len(ports)
}

// spot is where the dump has a tensor. Numbers that it does not say are those of the
// stand-in's own rule; a tensor that it cannot mean has the zero spot, which no surface
// holds. How elements interleave has not been dumped.
func (t DumpedTensor) spot(p port) spot {
	if t.entry == nil {
		return p.spot
	}
	_, placed := t.entry.Get("RowStride")
	if t.Type != typeNames[p.dtype] && (t.Type != "" || !placed) {
		return spot{}
	}
	if v, ok := t.entry.Get("Interleave"); ok && v != int64(1) {
		return spot{}
	}
	s, good := p.spot, true
	take := func(to *int64, key string, least int64) {
		v, ok := t.entry.Get(key)
		if !ok {
			return
		}
		n, isNumber := v.(int64)
		good = good && isNumber && n >= least && n <= mostBytes
		*to = n
	}
	for at, key := range order {
		take(&s.lengths[at], key, 1)
	}
	for at, key := range [...]string{axisN: "BatchStride", axisD: "DepthStride", axisC: "PlaneStride",
		axisH: "RowStride"} {
		least := int64(1)
		if s.lengths[at] == 1 { // no two elements are apart by it
			least = -mostBytes
		}
		take(&s.strides[at], key, least)
	}
	if !good {
		return spot{}
	}
	return s
}
