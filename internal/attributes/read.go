package attributes

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/plist"
)

// Limits of the framework: -[_ANERequest validate] refuses procedure indices above 128
// and more than 255 inputs or outputs.
const (
	maxProcedures = 129
	maxSymbols    = 255
)

// Keys of the attributes.
const (
	keyDescription = "ANEFModelDescription"
	keyNetworks    = "NetworkStatusList"
	keyProcedures  = "ANEFModelProcedures"
	keyNumber      = "ANEFModelProcedureID"
	keyNumbers     = "kANEFModelProcedureNameToIDMapKey"
)

// side has the keys of the inputs or of the outputs.
type side struct {
	output         bool
	names, indices string   // keys
	lists          []string // keys of the lists of entries, read as one list
}

var sides = [...]side{
	{names: "kANEFModelInputSymbolsArrayKey", indices: "ANEFModelInputSymbolIndexArray",
		lists: []string{"LiveInputList", "LiveInputParamList", "LiveStateList"}},
	{output: true, names: "kANEFModelOutputSymbolsArrayKey", indices: "ANEFModelOutputSymbolIndexArray",
		lists: []string{"LiveOutputList"}},
}

// Read reads attributes, a value of package plist. The error is an *Error.
func Read(attributes any) (*Program, error) {
	all, err := asDict("the attributes", attributes)
	if err != nil {
		return nil, err
	}
	networks, err := readNetworks(all)
	if err != nil {
		return nil, err
	}
	value, there := all.Get(keyDescription)
	if !there {
		return undescribed(networks)
	}
	description, err := asDict(keyDescription, value)
	if err != nil {
		return nil, err
	}
	return describedBy(all, description, networks)
}

// undescribed reads a program whose attributes have no description of its symbols: the
// order of its entries is the order of the symbols.
func undescribed(networks []network) (*Program, error) {
	if len(networks) > 1 {
		return nil, fault(keyDescription, "missing; it is needed to number the symbols of %d procedures", len(networks))
	}
	n := networks[0]
	p := Procedure{Name: n.name}
	for _, s := range sides {
		entries := n.entries[index(s)]
		if slices.ContainsFunc(entries, func(e entry) bool { return e.list != s.lists[0] }) {
			// In several lists, symbols are sorted bytewise over all of them.
			slices.SortStableFunc(entries, func(a, b entry) int { return strings.Compare(a.symbol(), b.symbol()) })
		}
		for i, e := range entries {
			name := e.symbol()
			if name == "" {
				return nil, fault(e.path, "neither Symbol nor Name, and no "+keyDescription)
			}
			t, err := e.tensor(bare(name), i, s.output)
			if err != nil {
				return nil, err
			}
			p.add(t)
		}
	}
	return &Program{Procedures: []Procedure{p}}, nil
}

// add appends a tensor to its side.
func (p *Procedure) add(t Tensor) {
	if t.Output {
		p.Outputs = append(p.Outputs, t)
	} else {
		p.Inputs = append(p.Inputs, t)
	}
}

// index returns the index of s in sides.
func index(s side) int {
	if s.output {
		return 1
	}
	return 0
}

// describedBy reads the procedures of a description.
func describedBy(all, description plist.Dict, networks []network) (*Program, error) {
	procedures, err := array(description, keyDescription, keyProcedures)
	if err != nil {
		return nil, err
	}
	if len(procedures) == 0 || len(procedures) > maxProcedures {
		return nil, fault(keyDescription+"."+keyProcedures, "%d procedures, want 1 to %d", len(procedures), maxProcedures)
	}
	names, err := readNumbers(all, description)
	if err != nil {
		return nil, err
	}
	p := &Program{}
	for i, v := range procedures {
		path := fmt.Sprintf("%s.%s[%d]", keyDescription, keyProcedures, i)
		d, err := asDict(path, v)
		if err != nil {
			return nil, err
		}
		q := Procedure{Number: i}
		if has(d, keyNumber) {
			if q.Number, err = number(d, path, keyNumber, 0, maxProcedures-1); err != nil {
				return nil, err
			}
		}
		if slices.ContainsFunc(p.Procedures, func(o Procedure) bool { return o.Number == q.Number }) {
			return nil, fault(path, "procedure %d is given twice", q.Number)
		}
		q.Name = names[q.Number]
		own := choose(networks, q.Name, i, len(procedures))
		if q.Name == "" && own != nil && len(networks) == len(procedures) {
			q.Name = own.name
		}
		for _, s := range sides {
			if err := q.read(s, path, description, d, own, networks); err != nil {
				return nil, err
			}
		}
		p.Procedures = append(p.Procedures, q)
	}
	return p, nil
}

// choose returns the network of a procedure: the one with its name, otherwise the one at its
// position, otherwise the only one, otherwise nil.
func choose(networks []network, name string, at, procedures int) *network {
	for i := range networks {
		if name != "" && networks[i].name == name {
			return &networks[i]
		}
	}
	if len(networks) == procedures {
		return &networks[at]
	}
	if len(networks) == 1 {
		return &networks[0]
	}
	return nil
}

// readNumbers reads the names of procedures by number. The key is in the description or
// beside it.
func readNumbers(all, description plist.Dict) (map[int]string, error) {
	path := keyDescription + "." + keyNumbers
	v, ok := description.Get(keyNumbers)
	if !ok {
		if v, ok = all.Get(keyNumbers); !ok {
			return nil, nil
		}
		path = keyNumbers
	}
	d, err := asDict(path, v)
	if err != nil {
		return nil, err
	}
	names := map[int]string{}
	for _, e := range d {
		n, err := number(d, path, e.Key, 0, maxProcedures-1)
		if err != nil {
			return nil, err
		}
		if _, taken := names[n]; taken {
			return nil, fault(path, "procedure %d has two names", n)
		}
		names[n] = e.Key
	}
	return names, nil
}

// read reads one side of a procedure.
func (p *Procedure) read(s side, path string, description, procedure plist.Dict, own *network,
	networks []network) error {
	names, err := array(description, keyDescription, s.names)
	if err != nil {
		return err
	}
	indices, err := array(procedure, path, s.indices)
	if err != nil {
		return err
	}
	path += "." + s.indices
	if len(indices) > maxSymbols {
		return fault(path, "%d symbols, at most %d", len(indices), maxSymbols)
	}
	seen := map[int]bool{}
	for at, v := range indices {
		place := fmt.Sprintf("%s[%d]", path, at)
		i, ok := v.(int64)
		if !ok || i < 0 || i >= int64(len(names)) {
			return fault(place, "%s is not an index of the %d names in %s", show(v), len(names), s.names)
		}
		if seen[int(i)] {
			return fault(place, "symbol %d is given twice", i)
		}
		seen[int(i)] = true
		symbol, ok := names[i].(string)
		if !ok || bare(symbol) == "" {
			return fault(fmt.Sprintf("%s.%s[%d]", keyDescription, s.names, i), "%s where a name is expected", show(names[i]))
		}
		e, err := find(s, symbol, at, len(indices), own, networks)
		if err != nil {
			return err
		}
		if e == nil {
			p.Unplaced = append(p.Unplaced, bare(symbol))
			continue
		}
		t, err := e.tensor(bare(symbol), int(i), s.output)
		if err != nil {
			return err
		}
		p.add(t)
	}
	byIndex := func(a, b Tensor) int { return a.Index - b.Index }
	slices.SortFunc(p.Inputs, byIndex)
	slices.SortFunc(p.Outputs, byIndex)
	return nil
}

// Search finds the attributes in a document: the dictionary nearest to the root that has
// NetworkStatusList or ANEFModelDescription.
func Search(v any) (plist.Dict, bool) {
	return plist.Nearest(v, func(d plist.Dict) bool {
		_, networks := d.Get(keyNetworks)
		_, description := d.Get(keyDescription)
		return networks || description
	})
}

// ErrImage: an input or output is planes of pixels, as in programs for Core Video.
var ErrImage = errors.New("image")

// Error is a fault of attributes. It matches ane.ErrAttributes.
type Error struct {
	Path string // the place: "NetworkStatusList[0].LiveInputList[2].RowStride"
	Msg  string // what is wrong, with numbers
	Hint string // how to fix it; may be empty
	Err  error  // ErrImage, the error of the layout, or nil
}

func (e *Error) Error() string {
	text := "attributes: " + e.Path + ": " + e.Msg
	if e.Hint != "" {
		text += "; " + e.Hint
	}
	return text
}

func (e *Error) Unwrap() []error {
	if e.Err == nil {
		return []error{ane.ErrAttributes}
	}
	return []error{ane.ErrAttributes, e.Err}
}

func fault(path, format string, args ...any) *Error {
	return &Error{Path: path, Msg: fmt.Sprintf(format, args...)}
}
