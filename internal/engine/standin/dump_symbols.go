package standin

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/anekit/anekit/internal/plist"
)

// read finds procedures and tensors in the same way as the framework: without a
// description each network is a procedure, and its entries are its symbols.
func (p *DumpedProgram) read() error {
	description, networks := p.attributes.Dict("ANEFModelDescription"), p.attributes.Array("NetworkStatusList")
	list := description.Array("ANEFModelProcedures")
	count := len(networks)
	if list != nil {
		count = len(list)
	}
	if n := max(count, len(networks)); n > maxProcedures {
		return fmt.Errorf("%d procedures, at most %d are allowed", n, maxProcedures)
	}
	if err := checkCounts(description, list, networks); err != nil {
		return err
	}
	known := make([]*dumpedNetwork, len(networks))
	for i := range networks {
		known[i] = networkOf(dictAt(networks, i))
	}
	names := procedureNames(p.attributes, description)
	for i := range count {
		own := dictAt(list, i)
		number := int64(i)
		if v, ok := own.Get("ANEFModelProcedureID"); ok {
			number, _ = integer(v)
		}
		f := dumpedProcedure{name: names[number]}
		network := networkAt(known, f.name, i, count)
		if f.name == "" && network != nil {
			f.name = network.name
		}
		for side, to := range [...]struct{ own, all *[]DumpedTensor }{{&f.in, &p.Inputs}, {&f.out, &p.Outputs}} {
			*to.own = tensorsAt(dumpedSides[side], side, own, description, known, network, int64(len(*to.all)))
			for _, t := range *to.own {
				if !slices.ContainsFunc(*to.all, func(o DumpedTensor) bool { return o.index == t.index }) {
					*to.all = append(*to.all, t)
				}
			}
			if len(*to.all) > maxEntries { // procedures without indices share a network
				return fmt.Errorf("more than %d tensors without %s; no program has as many", maxEntries,
					dumpedSides[side].indices)
			}
		}
		p.procedures = append(p.procedures, f)
	}
	for _, side := range [...][]DumpedTensor{p.Inputs, p.Outputs} {
		slices.SortStableFunc(side, func(a, b DumpedTensor) int { return cmp.Compare(a.index, b.index) })
	}
	return nil
}

// checkCounts rejects more names and tensors than programs have, over all procedures.
func checkCounts(description plist.Dict, procedures, networks plist.Array) error {
	if n := len(description.Dict("kANEFModelProcedureNameToIDMapKey")); n > maxEntries {
		return fmt.Errorf("%d names of procedures, at most %d are allowed", n, maxEntries)
	}
	for _, side := range dumpedSides {
		indices, entries := 0, 0
		for i := range procedures {
			indices += len(dictAt(procedures, i).Array(side.indices))
		}
		for i := range networks {
			for _, key := range side.lists {
				entries += len(dictAt(networks, i).Array(key))
			}
		}
		if max(len(description.Array(side.names)), indices, entries) > maxEntries {
			return fmt.Errorf("more than %d tensors at %s or %s; no program has as many", maxEntries, side.indices,
				side.lists[0])
		}
	}
	return nil
}

// procedureNames returns the names by number, from the description or beside it.
func procedureNames(attributes, description plist.Dict) map[int64]string {
	const key = "kANEFModelProcedureNameToIDMapKey"
	ids := description.Dict(key)
	if ids == nil {
		ids = attributes.Dict(key)
	}
	names := map[int64]string{}
	for _, e := range ids {
		if n, ok := integer(e.Value); ok {
			names[n] = e.Key
		}
	}
	return names
}

func dictAt(list plist.Array, i int) plist.Dict {
	if i >= len(list) {
		return nil
	}
	d, _ := list[i].(plist.Dict)
	return d
}

// tensorsAt lists one side of a procedure in ascending order of symbols. Entries
// without names have the order of the procedure's indices. Without indices the entries
// are the symbols, numbered from first.
func tensorsAt(keys dumpedSide, side int, procedure, description plist.Dict, networks []*dumpedNetwork,
	own *dumpedNetwork, first int64) (list []DumpedTensor) {
	indices := procedure.Array(keys.indices)
	if indices == nil {
		if own == nil {
			return nil
		}
		for i, e := range own.sides[side].symbols() {
			list = append(list, tensorOf("", first+int64(i), e))
		}
		return list
	}
	names := description.Array(keys.names)
	for place, v := range indices {
		n, _ := integer(v)
		var name string
		if n >= 0 && n < int64(len(names)) {
			name, _ = names[n].(string)
		}
		name = bareName(name)
		list = append(list, tensorOf(name, n, entryAt(networks, own, side, name, place)))
	}
	slices.SortStableFunc(list, func(a, b DumpedTensor) int { return cmp.Compare(a.index, b.index) })
	return list
}

func tensorOf(name string, index int64, e plist.Dict) DumpedTensor {
	if name == "" {
		name = bareName(symbolOf(e))
	}
	t := DumpedTensor{Name: name, Type: e.String("Type"), index: index, entry: e}
	for at, to := range [...]*int64{axisN: &t.Batches, axisD: &t.Depth, axisC: &t.Channels, axisH: &t.Height,
		axisW: &t.Width} {
		v, _ := e.Get(order[at])
		*to, _ = v.(int64)
	}
	return t
}
