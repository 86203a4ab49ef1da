package standin

import (
	"strings"

	"github.com/anekit/anekit/internal/plist"
)

// readModel reads results of getters of a loaded model: from the object model, from
// the object beside the attributes, or from the top of the data.
func (d *Dump) readModel(data plist.Dict) {
	for _, from := range []plist.Dict{data.Dict("model"), data.Dict("after_load"), data} {
		for _, e := range from {
			key := e.Key
			if key == "intermediateHandle" {
				key = "intermediateBufferHandle"
			}
			switch key {
			case "state", "queueDepth", "intermediateBufferHandle", "programHandle", "perfStatsMask":
				if n, ok := integer(e.Value); ok {
					d.tables.put("model", key, n)
				} else if n, ok := e.Value.(uint64); ok {
					d.tables.put("model", key, n)
				}
			case "isMILModel":
				if b, ok := e.Value.(bool); ok {
					d.tables.put("model", key, b)
				}
			}
		}
	}
}

// readPool reads how many programs were loaded when loading failed; the limit is the lowest number.
func (d *Dump) readPool(data plist.Dict) {
	var lowest int64
	for _, v := range data.Array("loaded_at_failure") {
		if n, ok := integer(v); ok && n > 0 && (lowest == 0 || n < lowest) {
			lowest = n
		}
	}
	if lowest > 0 {
		d.tables.put("limits", "programs", lowest)
	}
}

// readQoS reads the tables of _ANEQoSMapper.
func (d *Dump) readQoS(data plist.Dict) {
	for _, e := range data.Dict("qos") {
		row, _ := e.Value.(plist.Dict)
		key := "other"
		if e.Key != "unknown" {
			qos, ok := row.Get("qos")
			n, isNumber := integer(qos)
			if !ok || !isNumber {
				continue
			}
			key = decimal(n)
		}
		for name, table := range map[string]string{"priority": "priorityOfQoS", "queue": "queueOfQoS"} {
			if v, ok := row.Get(name); ok {
				if n, ok := integer(v); ok {
					d.tables.put(table, key, n)
				}
			}
		}
	}
	for _, e := range data.Dict("qosForProgramPriority") {
		if n, ok := integer(e.Value); ok {
			d.tables.put("qosOfPriority", e.Key, n)
		}
	}
}

// readTexts reads the texts of errors by code. The framework adds the part after the
// words, a number or a cause, itself.
func (d *Dump) readTexts(data plist.Dict) {
	for _, e := range data.Dict("codes") {
		text, ok := e.Value.(string)
		if !ok {
			continue
		}
		for i, one := range strings.Split(text, " | ") {
			key := e.Key
			if i > 0 {
				key += "." + decimal(int64(i))
			}
			for _, rest := range [...]string{"[ (0x%X)]", " (0x%X)", " 0x%x", "=%@"} {
				one = strings.TrimSuffix(one, rest)
			}
			d.tables.put("texts", key, one)
		}
	}
}

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
