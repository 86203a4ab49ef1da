package standin

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/anekit/anekit/internal/plist"
)

// read finds procedures and tensors as the framework does: without a description each
// network is a procedure, and its entries are its symbols.
func (p *DumpedProgram) read() error {
	description, networks := p.attributes.Dict("ANEFModelDescription"), p.attributes.Array("NetworkStatusList")
	list := description.Array("ANEFModelProcedures")
	count := len(networks)
	if list != nil {
		count = len(list)
	}
	if n := max(count, len(networks)); n > maxProcedures {
		return fmt.Errorf("%d procedures, at most %d", n, maxProcedures)
	}
	if err := few(description, list, networks); err != nil {
		return err
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
			*side.to = tensorsAt(indices, description.Array(side.names), network.Array(side.live), int64(len(*side.all)))
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

// few refuses more names and tensors than programs have, over all procedures.
func few(description plist.Dict, procedures, networks plist.Array) error {
	if n := len(description.Dict("kANEFModelProcedureNameToIDMapKey")); n > most {
		return fmt.Errorf("%d names of procedures, at most %d", n, most)
	}
	for _, keys := range [...][3]string{
		{"kANEFModelInputSymbolsArrayKey", "ANEFModelInputSymbolIndexArray", "LiveInputList"},
		{"kANEFModelOutputSymbolsArrayKey", "ANEFModelOutputSymbolIndexArray", "LiveOutputList"},
	} {
		indices, entries := 0, 0
		for i := range procedures {
			indices += len(dictAt(procedures, i).Array(keys[1]))
		}
		for i := range networks {
			entries += len(dictAt(networks, i).Array(keys[2]))
		}
		if max(len(description.Array(keys[0])), indices, entries) > most {
			return fmt.Errorf("more than %d tensors at %s or %s; no program has as many", most, keys[1], keys[2])
		}
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
