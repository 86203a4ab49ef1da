package standin

import (
	"cmp"
	"slices"
	"strings"

	"github.com/anekit/anekit/internal/plist"
)

// dumpedSide has the keys of inputs or of outputs.
type dumpedSide struct {
	indices, names string
	lists          []string // keys of live entries, read as one list in this order
}

var dumpedSides = [...]dumpedSide{
	{"ANEFModelInputSymbolIndexArray", "kANEFModelInputSymbolsArrayKey", []string{"LiveInputList", "LiveInputParamList",
		"LiveStateList"}},
	{"ANEFModelOutputSymbolIndexArray", "kANEFModelOutputSymbolsArrayKey", []string{"LiveOutputList"}},
}

// nameKeys are the keys of a live entry's name. The first one present is its symbol.
var nameKeys = [...]string{"Symbol", "Name"}

// dumpedNetwork is one item of NetworkStatusList.
type dumpedNetwork struct {
	name  string
	sides [len(dumpedSides)]liveEntries
}

// liveEntries are the live entries of one side of a network.
type liveEntries struct {
	list    []plist.Dict
	several bool // entries are from several lists
	named   bool // some entries have a name
	byName  [len(nameKeys)]map[string]plist.Dict
}

func networkOf(d plist.Dict) *dumpedNetwork {
	n := &dumpedNetwork{name: d.String("Name")}
	for i, side := range dumpedSides {
		n.sides[i] = entriesOf(d, side.lists)
	}
	return n
}

func entriesOf(network plist.Dict, lists []string) (l liveEntries) {
	for i, key := range lists {
		entries := network.Array(key)
		for at := range entries {
			l.list = append(l.list, dictAt(entries, at))
			l.several = l.several || i > 0
		}
	}
	for i, key := range nameKeys {
		l.byName[i] = map[string]plist.Dict{}
		for _, e := range l.list {
			name := bareName(e.String(key))
			if _, taken := l.byName[i][name]; name != "" && !taken {
				l.byName[i][name], l.named = e, true
			}
		}
	}
	return l
}

// find returns the entry with this Symbol, or else with this Name; nil if none.
func (l *liveEntries) find(name string) plist.Dict {
	for i := range l.byName {
		if e, ok := l.byName[i][name]; ok {
			return e
		}
	}
	return nil
}

// symbols returns the entries in the order of their symbols if no description numbers them. That is list order, or
// bytewise order if there are several lists.
func (l *liveEntries) symbols() []plist.Dict {
	if !l.several {
		return l.list
	}
	sorted := slices.Clone(l.list)
	slices.SortStableFunc(sorted, func(a, b plist.Dict) int { return cmp.Compare(symbolOf(a), symbolOf(b)) })
	return sorted
}

// networkAt returns the network of a procedure, or nil. It takes the one with its name, else the one at its index if
// there are as many networks as procedures, else the only one.
func networkAt(networks []*dumpedNetwork, name string, place, procedures int) *dumpedNetwork {
	for _, n := range networks {
		if name != "" && n.name == name {
			return n
		}
	}
	switch {
	case len(networks) == procedures:
		return networks[place]
	case len(networks) == 1:
		return networks[0]
	}
	return nil
}

// entryAt returns the live entry of a symbol, or nil. It takes the one with its name in the procedure's network, else
// the one at its index if no entry there has a name. Last it takes the one with its name in any network.
func entryAt(networks []*dumpedNetwork, own *dumpedNetwork, side int, name string, place int) plist.Dict {
	if own != nil {
		entries := &own.sides[side]
		if e := entries.find(name); e != nil {
			return e
		}
		if !entries.named && place < len(entries.list) {
			return entries.list[place]
		}
	}
	for _, n := range networks {
		if e := n.sides[side].find(name); e != nil {
			return e
		}
	}
	return nil
}

// symbolOf returns the name of a live entry with its suffix.
func symbolOf(e plist.Dict) string {
	for _, key := range nameKeys {
		if name := e.String(key); name != "" {
			return name
		}
	}
	return ""
}

// bareName returns a name without its suffix.
func bareName(name string) string { return strings.TrimSuffix(name, outputSuffix) }
