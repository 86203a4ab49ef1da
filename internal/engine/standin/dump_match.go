package standin

import "slices"

// is reports whether a program has the tensors of the dump: the same names and, as far as
// the dump has them, the same types and axes.
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

// fits reports whether one of the dump's tensors of that name can be p.
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

// means reports whether type and axes match p. Missing or impossible values match
// everything.
func (t DumpedTensor) means(p port) bool {
	if own := typeNames[p.dtype]; t.Type != own && isType(t.Type) {
		return false
	}
	lengths := [...]int64{axisN: t.Batches, axisD: max(t.Depth, 1), axisC: t.Channels, axisH: t.Height, axisW: t.Width}
	for _, n := range lengths {
		if n < 1 || n > maxBytes {
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

// arrange places the tensors of a program as in the dump and numbers its procedures in the
// dump's order.
func (p *DumpedProgram) arrange(q *program) {
	if len(p.procedures) == 0 { // requests then use the order of the text
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
		var inputs bool
		if f.in, inputs = arranged(f.in, d.in); !inputs {
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

// arranged returns the ports in the order of the dump. ok is false if the dump does not have
// all of them.
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
		p.placement = t.placement(p)
		list = append(list, p)
	}
	return list, len(list) == len(ports)
}

// placement returns the placement of a tensor in the dump. The stand-in's rule supplies
// missing numbers. A tensor that cannot match p has the zero placement, which fits no
// surface. No dump shows how elements interleave.
func (t DumpedTensor) placement(p port) placement {
	if t.entry == nil {
		return p.placement
	}
	_, placed := t.entry.Get("RowStride")
	if t.Type != typeNames[p.dtype] && (t.Type != "" || !placed) {
		return placement{}
	}
	if v, ok := t.entry.Get("Interleave"); ok && v != int64(1) {
		return placement{}
	}
	s, good := p.placement, true
	take := func(to *int64, key string, least int64) {
		v, ok := t.entry.Get(key)
		if !ok {
			return
		}
		n, isNumber := v.(int64)
		good = good && isNumber && n >= least && n <= maxBytes
		*to = n
	}
	for at, key := range order {
		take(&s.lengths[at], key, 1)
	}
	for at, key := range [...]string{axisN: "BatchStride", axisD: "DepthStride", axisC: "PlaneStride",
		axisH: "RowStride"} {
		least := int64(1)
		if s.lengths[at] == 1 { // the stride has no effect
			least = -maxBytes
		}
		take(&s.strides[at], key, least)
	}
	if !good {
		return placement{}
	}
	return s
}
