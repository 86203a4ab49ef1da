package standin

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/anekit/anekit/internal/plist"
)

// DumpedProgram is a compiled program as its attributes tell it.
type DumpedProgram struct {
	// Inputs and Outputs are the tensors of all procedures by rising symbol, names
	// without "@output".
	Inputs, Outputs []DumpedTensor

	attributes plist.Dict
	procedures []dumpedProcedure
}

// DumpedTensor is one input or output. What the dump does not say is zero.
type DumpedTensor struct {
	Name, Type                              string
	Batches, Depth, Channels, Height, Width int64
	index                                   int64
	entry                                   plist.Dict // nil where the dump has none
}

type dumpedProcedure struct {
	name    string
	in, out []DumpedTensor
}

// most bounds what is read of a program: a request has at most 255 inputs.
const most = 4096

// replyKeys are the keys that replies of a compile and of a load have been seen to
// have. Others at the top of a dump are its author's.
var replyKeys = [...]string{"ANEFModelDescription", "NetworkStatusList", "ErrorList", "ModelMaxDramUsage", "CompiledInputSourceFileName"}

func holdsProgram(d plist.Dict) bool {
	_, networks := d.Get("NetworkStatusList")
	_, description := d.Get("ANEFModelDescription")
	return networks || description
}

// readProgram finds the attributes, at the top of the data or within.
func (d *Dump) readProgram(top plist.Dict, data any) error {
	if keys := findKeys(data); keys != nil {
		d.keys = keys
	}
	found := breadthFirst(data, holdsProgram)
	if found == nil {
		return nil
	}
	p := &DumpedProgram{attributes: found}
	if holdsProgram(top) {
		p.attributes = slices.DeleteFunc(slices.Clone(found), func(e plist.Entry) bool { return !slices.Contains(replyKeys[:], e.Key) })
	}
	if err := p.read(); err != nil {
		return err
	}
	if keys := p.liveKeys(); keys != nil {
		d.keys = keys
	}
	d.Program = p
	return nil
}

// breadthFirst returns the dictionary nearest to the top that has what is looked for.
func breadthFirst(v any, is func(plist.Dict) bool) plist.Dict {
	for queue := []any{v}; len(queue) > 0; queue = queue[1:] {
		switch v := queue[0].(type) {
		case plist.Dict:
			if is(v) {
				return v
			}
			for _, e := range v {
				queue = append(queue, e.Value)
			}
		case plist.Array:
			queue = append(queue, v...)
		}
	}
	return nil
}

// findKeys returns a list of keys of live entries that stands for itself.
func findKeys(data any) (keys []string) {
	holder := breadthFirst(data, func(d plist.Dict) bool { return len(d.Array("live_entry_keys")) > 0 })
	for _, v := range holder.Array("live_entry_keys") {
		if key, ok := v.(string); ok {
			keys = append(keys, key)
		}
	}
	return keys
}

// liveKeys are the keys of the first live entry that places a tensor.
func (p *DumpedProgram) liveKeys() (keys []string) {
	for _, f := range p.procedures {
		for _, t := range slices.Concat(f.in, f.out) {
			if _, ok := t.entry.Get("RowStride"); !ok {
				continue
			}
			for _, e := range t.entry {
				keys = append(keys, e.Key)
			}
			return keys
		}
	}
	return nil
}

// read finds procedures and tensors as the framework does: without a description each
// network is a procedure, and its entries are its symbols.
func (p *DumpedProgram) read() error {
	description, networks := p.attributes.Dict("ANEFModelDescription"), p.attributes.Array("NetworkStatusList")
	list := description.Array("ANEFModelProcedures")
	count := len(networks)
	if list != nil {
		count = len(list)
	}
	if count > maxProcedures {
		return fmt.Errorf("%d procedures, at most %d", count, maxProcedures)
	}
	for i := range count {
		own, network := dictAt(list, i), dictAt(networks, i)
		f := dumpedProcedure{name: network.String("Name")}
		number := int64(i)
		if v, ok := own.Get("ANEFModelProcedureID"); ok {
			number, _ = integer(v)
		}
		for _, e := range description.Dict("kANEFModelProcedureNameToIDMapKey") {
			if n, ok := integer(e.Value); ok && n == number {
				f.name = e.Key
			}
		}
		for _, side := range [...]struct {
			indices, names, live string
			to, all              *[]DumpedTensor
		}{
			{"ANEFModelInputSymbolIndexArray", "kANEFModelInputSymbolsArrayKey", "LiveInputList", &f.in, &p.Inputs},
			{"ANEFModelOutputSymbolIndexArray", "kANEFModelOutputSymbolsArrayKey", "LiveOutputList", &f.out, &p.Outputs},
		} {
			var indices plist.Array
			if list != nil {
				indices = own.Array(side.indices)
			}
			entries := network.Array(side.live)
			if len(entries) > most || len(indices) > most || len(description.Array(side.names)) > most || len(*side.all) > most {
				return fmt.Errorf("procedure %d: more than %d tensors; no program has as many", i, most)
			}
			*side.to = tensorsAt(indices, description.Array(side.names), entries, int64(len(*side.all)))
			for _, t := range *side.to {
				if !slices.ContainsFunc(*side.all, func(o DumpedTensor) bool { return o.index == t.index }) {
					*side.all = append(*side.all, t)
				}
			}
		}
		p.procedures = append(p.procedures, f)
	}
	for _, side := range [...][]DumpedTensor{p.Inputs, p.Outputs} {
		slices.SortStableFunc(side, func(a, b DumpedTensor) int { return cmp.Compare(a.index, b.index) })
	}
	return nil
}

func dictAt(list plist.Array, i int) plist.Dict {
	if i >= len(list) {
		return nil
	}
	d, _ := list[i].(plist.Dict)
	return d
}

// tensorsAt lists one side of a procedure by rising symbol. Without indices the entries
// are the symbols from first on.
func tensorsAt(indices, names, entries plist.Array, first int64) (list []DumpedTensor) {
	if indices == nil {
		for i := range entries {
			list = append(list, tensorOf("", first+int64(i), dictAt(entries, i)))
		}
		return list
	}
	var numbers []int64
	for _, v := range indices {
		n, _ := integer(v)
		numbers = append(numbers, n)
	}
	slices.Sort(numbers)
	byName := map[string]plist.Dict{}
	for i := range entries {
		if e := dictAt(entries, i); nameOf(e) != "" && byName[nameOf(e)] == nil {
			byName[nameOf(e)] = e
		}
	}
	for place, n := range numbers {
		var name string
		if n >= 0 && n < int64(len(names)) {
			name, _ = names[n].(string)
		}
		name = strings.TrimSuffix(name, outputSuffix)
		e := byName[name]
		if e == nil && nameOf(dictAt(entries, place)) == "" {
			e = dictAt(entries, place)
		}
		list = append(list, tensorOf(name, n, e))
	}
	return list
}

// nameOf is the name of a live entry without suffix; some have a Symbol only.
func nameOf(e plist.Dict) string {
	name := e.String("Name")
	if name == "" {
		name = e.String("Symbol")
	}
	return strings.TrimSuffix(name, outputSuffix)
}

func tensorOf(name string, index int64, e plist.Dict) DumpedTensor {
	if name == "" {
		name = nameOf(e)
	}
	t := DumpedTensor{Name: name, Type: e.String("Type"), index: index, entry: e}
	for at, to := range [...]*int64{axisN: &t.Batches, axisD: &t.Depth, axisC: &t.Channels, axisH: &t.Height, axisW: &t.Width} {
		v, _ := e.Get(order[at])
		*to, _ = v.(int64)
	}
	return t
}

// is reports whether a program has the tensors of the dump by name.
func (p *DumpedProgram) is(q *program) bool {
	if p == nil {
		return false
	}
	var in, out []string
	for _, f := range q.procedures {
		for _, t := range f.in {
			in = append(in, t.name)
		}
		for _, t := range f.out {
			out = append(out, t.name)
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
	take := func(to *int64, key string) {
		v, ok := t.entry.Get(key)
		if !ok {
			return
		}
		n, isNumber := v.(int64)
		good = good && isNumber && n >= 1 && n <= mostBytes
		*to = n
	}
	for at, key := range order {
		take(&s.lengths[at], key)
	}
	for at, key := range [...]string{axisN: "BatchStride", axisD: "DepthStride", axisC: "PlaneStride", axisH: "RowStride"} {
		take(&s.strides[at], key)
	}
	if !good {
		return spot{}
	}
	return s
}
