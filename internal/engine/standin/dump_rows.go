package standin

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/anekit/anekit/internal/plist"
)

// rowsOf returns the table of a dump, or nil. That is the data itself, its errors, its instances, one compile error for
// each observed cause, or what keyedRows finds.
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
		return keyedRows(data)
	}
	return nil
}

// isOneError reports whether the data itself is an error. A table of texts has a domain
// too.
func isOneError(data plist.Dict) bool {
	_, coded := codeOf(data)
	return coded && !holdsProgram(data) || data.String("domain") != "" && textOf(data) != ""
}

// seenCause matches the cause in the text of a compile error.
var seenCause = &pattern{text: `err=\([^)]*\)`}

// compileRows expands a compile error with a list of causes into rows.
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
				e.Value = seenCause.get().ReplaceAllLiteralString(text, "err=("+strings.TrimSuffix(seen, "() empty")+")")
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

// readRows reads the rows of the table: the chosen one, or the first of each kind and
// stage. named reports that the envelope names the generation; a chosen row overrides
// it.
func (d *Dump) readRows(rows plist.Array, named bool) error {
	if len(rows) > maxEntries {
		return fmt.Errorf("the table has %d entries, at most %d are allowed", len(rows), maxEntries)
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
			if (chosen || all) && e.lacksStage(row) {
				return fmt.Errorf(`entry %d, code %d of %s, names no stage; give it the key "stage" with one of %s, or choose another entry with #N`,
					i, e.Code, e.Domain, strings.Join(stages[:], ", "))
			}
			leads := !stageSeen[e.Stage] && !limits // other codes of a limit are no separate errors
			switch {
			case e.Recovered || e.Program != "" || !chosen && (!all || !leads):
			case e.Kind == kindMissing:
				e.Replayed = d.readMissing(e.Text)
			case e.replayable():
				e.Replayed, stageSeen[e.Stage] = true, true
			}
			answered = answered || e.Replayed
			if first == nil && e.Code != 0 && statusWords.get().MatchString(e.Text) {
				first = &e
			}
			d.Errors = append(d.Errors, e)
		}
	}
	if d.Row >= 0 && !answered {
		return fmt.Errorf("entry %d has nothing to replay; choose another", d.Row)
	}
	return nil
}

// lacksStage reports whether a row is an error of unknown stage. A row without code and
// domain is prose for readers.
func (e *DumpedError) lacksStage(row plist.Dict) bool {
	_, coded := codeOf(row)
	return e.Stage == "" && e.Kind == "" && !e.Recovered && e.Program == "" && (coded || row.String("domain") != "")
}

var firstNumber = &pattern{text: `\d+`}

// readLimit reads the limit of loaded programs and the error of the next program.
func (d *Dump) readLimit(row plist.Dict) bool {
	limit, _ := row.Get("limit")
	n, ok := integer(limit)
	if !ok {
		var err error
		n, err = strconv.ParseInt(firstNumber.get().FindString(row.String("limit")), 10, 32)
		ok = err == nil
	}
	if !ok || n < 1 {
		return false
	}
	d.tables.put("limits", "programs", n)
	if text := row.String("text"); text != "" {
		e := errorOf(row, nil)
		if e.Code == 0 {
			e.Code = 6 // the code of the only known text
		}
		e.Stage, e.Replayed = "wall", true
		d.Errors = append(d.Errors, e)
	}
	return true
}

// inferenceCode is the code of a run that the driver refused with a status.
const inferenceCode = 8

// keyedRows returns the rows of data without a table: a limit, and errors by their stage or their code.
func keyedRows(data plist.Dict) (rows plist.Array) {
	if row := poolRow(data); row != nil {
		rows = append(rows, row)
	}
	for _, e := range data {
		v, ok := e.Value.(plist.Dict)
		if !ok {
			continue
		}
		code, err := strconv.ParseInt(e.Key, 10, 64)
		_, coded := codeOf(v)
		switch staged := slices.Contains(stages[:], e.Key); {
		case !staged && err != nil || !saysText(v):
			continue
		case err == nil:
			v = with(v, "code", code)
		case !coded && statusWords.get().MatchString(textOf(v)):
			v = with(v, "code", int64(inferenceCode))
		}
		if err != nil {
			v = with(v, "stage", e.Key)
		}
		if part := v.String("text_contains"); part != "" && textOf(v) == "" {
			v = with(v, "text", "… "+part+" …")
		}
		if status, ok := v.Get("status"); ok && v.String("underlying") == "" {
			v = with(v, "underlying", status)
		}
		rows = append(rows, v)
	}
	return rows
}

func saysText(row plist.Dict) bool { return textOf(row) != "" || row.String("text_contains") != "" }

// with returns a row with one more entry.
func with(row plist.Dict, key string, value any) plist.Dict {
	return append(slices.Clone(row), plist.Entry{Key: key, Value: value})
}

// poolRow returns the limit of loaded programs: as many as worked.
func poolRow(data plist.Dict) plist.Dict {
	tried := data.Dict("loaded_programs")
	works, ok := tried.Get("works")
	if !ok {
		return nil
	}
	return plist.Dict{{Key: "limit", Value: works}, {Key: "text", Value: tried.String("text")}}
}
