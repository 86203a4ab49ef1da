package standin

import (
	"slices"
	"strconv"

	"github.com/anekit/anekit/internal/plist"
)

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
		case !coded && statusWords().MatchString(textOf(v)):
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
