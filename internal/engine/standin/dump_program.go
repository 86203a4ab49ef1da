package standin

import (
	"slices"

	"github.com/anekit/anekit/internal/plist"
)

// DumpedProgram is a compiled program as described by its attributes.
type DumpedProgram struct {
	// Inputs and Outputs are the tensors of all procedures in ascending order of
	// symbols. Names have no "@output".
	Inputs, Outputs []DumpedTensor

	attributes plist.Dict
	procedures []dumpedProcedure
}

// DumpedTensor is one input or output. Fields missing in the dump are zero.
type DumpedTensor struct {
	Name, Type                              string
	Batches, Depth, Channels, Height, Width int64
	index                                   int64
	entry                                   plist.Dict // nil if the dump has none
}

type dumpedProcedure struct {
	name    string
	in, out []DumpedTensor
}

// maxEntries bounds the entries of one kind: a request has at most 255 inputs, and no
// published table has a hundred rows.
const maxEntries = 1024

// replyKeys are the observed keys of replies to compile and load. Other keys at the
// top of a dump are its author's.
var replyKeys = [...]string{"ANEFModelDescription", "NetworkStatusList", "kANEFModelProcedureNameToIDMapKey",
	"ErrorList", "ModelMaxDramUsage", "CompiledInputSourceFileName"}

func holdsProgram(d plist.Dict) bool {
	_, networks := d.Get("NetworkStatusList")
	_, description := d.Get("ANEFModelDescription")
	return networks || description
}

// readProgram finds the attributes at the top of the data or inside.
func (d *Dump) readProgram(top plist.Dict, data any) error {
	if keys := findKeys(data); keys != nil {
		d.keys = keys
	}
	found, ok := plist.Nearest(data, holdsProgram)
	if !ok {
		return nil
	}
	p := &DumpedProgram{attributes: found}
	if holdsProgram(top) {
		p.attributes = slices.DeleteFunc(slices.Clone(found),
			func(e plist.Entry) bool { return !slices.Contains(replyKeys[:], e.Key) })
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

// findKeys returns a list of keys of live entries that is not part of a program.
func findKeys(data any) (keys []string) {
	holder, _ := plist.Nearest(data, func(d plist.Dict) bool { return len(d.Array("live_entry_keys")) > 0 })
	for _, v := range holder.Array("live_entry_keys") {
		if key, ok := v.(string); ok {
			keys = append(keys, key)
		}
	}
	return keys
}

// liveKeys returns the keys of the first live entry with a placement.
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
