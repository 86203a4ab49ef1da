package standin

import (
	"fmt"
	"slices"

	"github.com/anekit/anekit/internal/plist"
)

// compileKeys are the keys that are read together with the key outer.
var compileKeys = [...]string{"outer", "NSUnderlyingError", "err_seen", "other"}

// ignored lists keys without effect: reading one alone adds no answer. For very many
// keys it checks only the first ones.
func (d *Dump) ignored(data any, rows plist.Array) (keys []string) {
	dict, isDict := data.(plist.Dict)
	if !isDict {
		if rows == nil {
			return []string{"data"}
		}
		if d.Program == nil && d.keys == nil {
			return d.ignoredRows("", rows)
		}
		return nil
	}
	_, compile := dict.Get("outer")
	program := holdsProgram(dict)
	alone := isOneError(dict) && len(dict.Array("errors"))+len(dict.Array("instances")) == 0
	for _, e := range dict[:min(len(dict), maxEntries)] {
		switch {
		case program && slices.Contains(replyKeys[:], e.Key):
		case compile && slices.Contains(compileKeys[:], e.Key):
		case alone && len(rows) > 0:
		case !d.answers(e):
			keys = append(keys, e.Key)
		case e.Key == "errors" || e.Key == "instances":
			if list, _ := e.Value.(plist.Array); len(rows) > 0 && len(list) == len(rows) {
				keys = append(keys, d.ignoredRows(e.Key, rows)...)
			}
		}
	}
	return keys
}

// answers reports whether a key of the data by itself adds an answer. A key with a
// program does so only if this program is the one in use.
func (d *Dump) answers(e plist.Entry) bool {
	alone := &Dump{Row: -1}
	data := plist.Dict{e}
	if alone.readData(data, rowsOf(data), true) != nil {
		return true // the key is only a part of the data
	}
	if p := alone.Program; p != nil && d.Program != nil && len(p.attributes) > 0 && len(d.Program.attributes) > 0 &&
		&p.attributes[0] == &d.Program.attributes[0] {
		return true
	}
	replayed := slices.ContainsFunc(alone.Errors, func(e DumpedError) bool { return e.Replayed })
	return replayed || alone.keys != nil && alone.Program == nil ||
		len(alone.tables)+len(alone.missing)+len(alone.changed) > 0
}

// ignoredRows lists rows without anything to replay.
func (d *Dump) ignoredRows(table string, rows plist.Array) (list []string) {
	for i, v := range rows {
		row, _ := v.(plist.Dict)
		_, limit := row.Get("limit")
		if limit || isDevice(row) {
			continue
		}
		if isError(row) {
			if e := errorOf(row, nil); e.replayable() && e.Program == "" || e.Kind == kindMissing || e.Recovered {
				continue
			}
		}
		list = append(list, fmt.Sprintf("%s#%d", table, i))
	}
	return list
}
