package attributes

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/anekit/anekit/internal/plist"
)

// network is one element of NetworkStatusList.
type network struct {
	path, name string
	entries    [len(sides)][]entry
	// places are indexes of entries, by bare Symbol and by bare Name.
	places [len(sides)][len(entry{}.names)]map[string]int
}

func readNetworks(all plist.Dict) ([]network, error) {
	list, err := array(all, "", keyNetworks)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 || len(list) > maxProcedures {
		return nil, fault(keyNetworks, "%d networks, want 1 to %d", len(list), maxProcedures)
	}
	var networks []network
	for i, v := range list {
		n := network{path: fmt.Sprintf("%s[%d]", keyNetworks, i)}
		d, err := asDict(n.path, v)
		if err != nil {
			return nil, err
		}
		if n.name, err = text(d, n.path, "Name"); err != nil {
			return nil, err
		}
		for at, s := range sides {
			if n.entries[at], err = readEntries(s, d, n.path); err != nil {
				return nil, err
			}
			n.remember(at)
		}
		networks = append(networks, n)
	}
	return networks, nil
}

// remember fills places.
func (n *network) remember(side int) {
	for key := range n.places[side] {
		n.places[side][key] = map[string]int{}
		for i, e := range n.entries[side] {
			if name := bare(e.names[key]); name != "" {
				n.places[side][key][name] = i
			}
		}
	}
}

// named finds an entry by Symbol, then by Name; it returns nil if there is none.
func (n *network) named(side int, symbol string) *entry {
	for _, places := range n.places[side] {
		if i, ok := places[bare(symbol)]; ok {
			return &n.entries[side][i]
		}
	}
	return nil
}

// readEntries reads the lists of a side as one list.
func readEntries(s side, d plist.Dict, path string) ([]entry, error) {
	var all []entry
	seen := map[string]bool{}
	for _, key := range s.lists {
		if !has(d, key) {
			continue
		}
		list, err := array(d, path, key)
		if err != nil {
			return nil, err
		}
		if len(all)+len(list) > maxSymbols {
			return nil, fault(path+"."+key, "%d inputs or outputs, at most %d", len(all)+len(list), maxSymbols)
		}
		for i, v := range list {
			e := entry{list: key, path: fmt.Sprintf("%s.%s[%d]", path, key, i)}
			if e.Dict, err = asDict(e.path, v); err != nil {
				return nil, err
			}
			for at, key := range [...]string{"Symbol", "Name"} {
				if e.names[at], err = text(e.Dict, e.path, key); err != nil {
					return nil, err
				}
			}
			if name := e.symbol(); name != "" {
				if repeated(all, e) {
					continue // the inputs may also list a state
				}
				if seen[bare(name)] {
					return nil, fault(e.path, "%.80q is given twice", bare(name))
				}
				seen[bare(name)] = true
			}
			all = append(all, e)
		}
	}
	return all, nil
}

// repeated reports whether another list has the same entry.
func repeated(all []entry, e entry) bool {
	return slices.ContainsFunc(all, func(o entry) bool { return o.list != e.list && reflect.DeepEqual(o.Dict, e.Dict) })
}

// find returns the entry of the symbol at a position of its procedure, or nil. It searches by Symbol or Name in the
// procedure's own network, or by position if no entry there has a name. Then it searches by Symbol or Name in the other
// networks.
func find(s side, symbol string, at, symbols int, own *network, networks []network) (*entry, error) {
	side := index(s)
	if own != nil {
		entries := own.entries[side]
		if e := own.named(side, symbol); e != nil {
			return e, nil
		}
		if nameless(entries) {
			if len(entries) != symbols {
				return nil, fault(own.path+"."+s.lists[0], "%d entries without Symbol or Name for %d symbols", len(entries),
					symbols)
			}
			return &entries[at], nil
		}
	}
	for i := range networks {
		if e := networks[i].named(side, symbol); e != nil {
			return e, nil
		}
	}
	return nil, nil
}

// nameless reports whether there are entries and none has a name.
func nameless(entries []entry) bool {
	for i := range entries {
		if entries[i].symbol() != "" {
			return false
		}
	}
	return len(entries) > 0
}
