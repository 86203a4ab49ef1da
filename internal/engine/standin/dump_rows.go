package standin

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/anekit/anekit/internal/plist"
)

// rowsOf returns the table of a dump: the data itself, its errors, its instances, or
// one compile error for each cause that was seen. nil where there is none.
func rowsOf(data any) plist.Array {
	switch data := data.(type) {
	case plist.Array:
		return data
	case plist.Dict:
		for _, key := range [...]string{"errors", "instances"} {
			if rows := data.Array(key); len(rows) > 0 {
				return rows
			}
		}
		if rows := compileRows(data); rows != nil {
			return rows
		}
		if v, ok := data.Get("error"); ok {
			if _, list := v.(plist.Array); !list {
				v = plist.Array{v}
			}
			return v.(plist.Array)
		}
		if isOneError(data) {
			return plist.Array{data}
		}
	}
	return nil
}

// isOneError reports whether the data is itself an error. A table of texts has a domain
// too.
func isOneError(data plist.Dict) bool {
	_, coded := codeOf(data)
	return coded && !holdsProgram(data) || data.String("domain") != "" && textOf(data) != ""
}

// seenCause is the cause within the text of a compile error.
var seenCause = regexp.MustCompile(`err=\([^)]*\)`)

// compileRows spells out a compile error whose causes stand in a list.
func compileRows(data plist.Dict) (rows plist.Array) {
	outer, under := data.Dict("outer"), data.Dict("NSUnderlyingError")
	if outer == nil {
		return nil
	}
	for _, v := range data.Array("err_seen") {
		seen, _ := v.(string)
		cause := plist.Dict{}
		for _, e := range under {
			if text, ok := e.Value.(string); ok && e.Key == "text" {
				e.Value = seenCause.ReplaceAllLiteralString(text, "err=("+strings.TrimSuffix(seen, "() empty")+")")
			}
			cause = append(cause, e)
		}
		rows = append(rows, append(append(plist.Dict{}, outer...), plist.Entry{Key: "NSUnderlyingError", Value: cause}))
	}
	if len(rows) == 0 {
		rows = append(rows, append(append(plist.Dict{}, outer...), plist.Entry{Key: "NSUnderlyingError", Value: under}))
	}
	if other := data.Dict("other"); other != nil {
		rows = append(rows, other)
	}
	return rows
}

// readRows takes the table's rows: the chosen one, or the first of each kind and stage.
// named says that the envelope names the generation, which a chosen row may do better.
func (d *Dump) readRows(rows plist.Array, named bool) error {
	if len(rows) > most {
		return fmt.Errorf("a table of %d entries, at most %d", len(rows), most)
	}
	var seen struct{ device, limit bool }
	var first *DumpedError
	stageSeen := map[string]bool{}
	limits := false
	for _, v := range rows {
		row, _ := v.(plist.Dict)
		_, has := row.Get("limit")
		limits = limits || has
	}
	answered := false
	for i, v := range rows {
		row, _ := v.(plist.Dict)
		chosen, all := d.Row == i, d.Row < 0
		if os := row.String("os"); chosen {
			if profile, ok := profileOf(os); ok {
				d.Profile, named = profile, true
			}
		}
		_, isLimit := row.Get("limit")
		switch {
		case isLimit:
			if chosen || (all && !seen.limit) {
				answered, seen.limit = d.readLimit(row), true
			}
		case isDevice(row):
			if chosen || (all && !seen.device) {
				d.readDeviceRow(row)
				answered, seen.device = true, true
				if profile, ok := profileOf(row.String("os")); ok && !named {
					d.Profile = profile
				}
			}
		case isError(row):
			e := errorOf(row, first)
			if (chosen || all) && e.isLost(row) {
				return fmt.Errorf(`entry %d, code %d of %s, names no stage; give it the key "stage" with one of %s, or choose another entry with #N`,
					i, e.Code, e.Domain, strings.Join(stages[:], ", "))
			}
			leads := !stageSeen[e.Stage] && !limits // other codes of a limit are no errors of their own
			switch {
			case e.Recovered || e.Program != "" || !chosen && (!all || !leads):
			case e.Kind == kindMissing:
				e.Replayed = d.readMissing(e.Text)
			case e.can():
				e.Replayed, stageSeen[e.Stage] = true, true
			}
			answered = answered || e.Replayed
			if first == nil && e.Code != 0 && statusWords.MatchString(e.Text) {
				first = &e
			}
			d.Errors = append(d.Errors, e)
		}
	}
	if d.Row >= 0 && !answered {
		return fmt.Errorf("entry %d says nothing that can be replayed; choose another", d.Row)
	}
	return nil
}

// isLost reports whether a row says an error of no known stage. Prose with neither code
// nor domain is for readers.
func (e *DumpedError) isLost(row plist.Dict) bool {
	_, coded := codeOf(row)
	return e.Stage == "" && e.Kind == "" && !e.Recovered && e.Program == "" && (coded || row.String("domain") != "")
}

var firstNumber = regexp.MustCompile(`\d+`)

// readLimit takes how many programs can be loaded, and what the next one is told.
func (d *Dump) readLimit(row plist.Dict) bool {
	limit, _ := row.Get("limit")
	n, ok := integer(limit)
	if !ok {
		var err error
		n, err = strconv.ParseInt(firstNumber.FindString(row.String("limit")), 10, 32)
		ok = err == nil
	}
	if !ok || n < 1 {
		return false
	}
	d.tables.put("limits", "programs", n)
	if text := row.String("text"); text != "" {
		e := errorOf(row, nil)
		if e.Code == 0 {
			e.Code = 6 // of the one text that has been seen
		}
		e.Stage, e.Replayed = "wall", true
		d.Errors = append(d.Errors, e)
	}
	return true
}
