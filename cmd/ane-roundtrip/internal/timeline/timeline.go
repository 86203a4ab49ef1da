package timeline

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"math"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
)

// Record is what one evaluation of each program did on a timeline: the spans and the memory of the trace that
// --trace writes.
type Record struct {
	Spans   []timelineSpan  `json:"spans"` // in the order in which they ended
	Memory  []timelineBytes `json:"memory"`
	LeftOut int             `json:"left_out,omitempty"` // spans beyond the first 2000
}

// maxSpans bounds the spans of an object; a program of many operators is one span of the engine.
const maxSpans = 2000

// timelineSpan is a span of a row.
type timelineSpan struct {
	Row      string `json:"row"` // waits, submissions, engine or copies
	Name     string `json:"name"`
	Program  string `json:"program,omitempty"` // of a span of the engine
	Start    int64  `json:"start_ns"`
	Duration int64  `json:"duration_ns"`
}

// timelineBytes is the memory of the buffers from a time on.
type timelineBytes struct {
	At    int64 `json:"at_ns"`
	Bytes int64 `json:"bytes"`
}

// RecordTrace runs programs, writes their trace to w, the file path of --trace, and returns its record.
func RecordTrace(ctx context.Context, d *ane.Device, path string, w io.Writer, programs []Program) (
	*Record, error) {
	var text bytes.Buffer
	if err := Trace(ctx, d, &text, programs); err != nil {
		return nil, err
	}
	if _, err := w.Write(text.Bytes()); err != nil {
		return nil, cli.WriteError(path, err)
	}
	var file struct {
		TraceEvents []struct {
			Name, Cat, Ph string
			Ts, Dur       float64
			Args          struct {
				Bytes int64 `json:"bytes"`
			}
		}
	}
	if err := json.Unmarshal(text.Bytes(), &file); err != nil {
		return nil, err
	}
	ns := func(us float64) int64 { return int64(math.Round(1000 * us)) }
	r := &Record{Spans: []timelineSpan{}, Memory: []timelineBytes{}}
	ran := 0
	for _, e := range file.TraceEvents {
		switch e.Ph {
		case "C":
			r.Memory = append(r.Memory, timelineBytes{ns(e.Ts), e.Args.Bytes})
		case "X":
			s := timelineSpan{Row: e.Cat, Name: e.Name, Start: ns(e.Ts), Duration: ns(e.Dur)}
			if e.Cat == "engine" && ran < len(programs) {
				s.Program = cli.Visible(strings.TrimSuffix(programs[ran].Source.File, ".mil"))
				ran++
			}
			if len(r.Spans) == maxSpans {
				r.LeftOut++
				continue
			}
			r.Spans = append(r.Spans, s)
		}
	}
	return r, nil
}
