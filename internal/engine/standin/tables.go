package standin

import "github.com/anekit/anekit/internal/plist"

// tables are the framework's answers by table and key: see replay.h.
type tables map[string]plist.Dict

// put adds a value unless the table has the key or is full.
func (t *tables) put(table, key string, value any) {
	if *t == nil {
		*t = tables{}
	}
	if len((*t)[table]) >= maxEntries {
		return
	}
	if _, ok := (*t)[table].Get(key); !ok {
		(*t)[table] = append((*t)[table], plist.Entry{Key: key, Value: value})
	}
}

// list returns the property list for the framework; nil without a dump.
func (d *Dump) list() ([]byte, error) {
	if d == nil {
		return nil, nil
	}
	root := plist.Dict{}
	for _, name := range [...]string{"model", "device", "registry", "priorityOfQoS", "queueOfQoS", "qosOfPriority",
		"texts", "limits"} {
		if table, ok := d.tables[name]; ok {
			root = append(root, plist.Entry{Key: name, Value: table})
		}
	}
	errors := plist.Array{}
	for _, e := range d.Errors {
		if e.Replayed {
			errors = append(errors, e.row())
		}
	}
	return plist.XML(append(root, plist.Entry{Key: "errors", Value: errors}))
}
