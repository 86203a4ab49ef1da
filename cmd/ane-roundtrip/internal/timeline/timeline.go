// Package timeline evaluates programs on a timeline of package hal, and records what it did when.
package timeline

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/hal"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/cli"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/doc"
	"github.com/anekit/anekit/cmd/ane-roundtrip/internal/tensorfile"
	"github.com/anekit/anekit/internal/step"
)

// Record is what one evaluation of each program did: the spans and the memory of the trace that --trace writes.
type Record struct {
	Spans   []span   `json:"spans"` // in the order in which they ended
	Memory  []amount `json:"memory"`
	LeftOut int      `json:"left_out,omitempty"` // spans beyond the first 2000
}

// maxSpans bounds the spans of a Record; a program of many operators is one span of the engine.
const maxSpans = 2000

// span is a span of a row.
type span struct {
	Row      string `json:"row"` // waits, submissions, engine or copies
	Name     string `json:"name"`
	Program  string `json:"program,omitempty"` // of a span of the engine
	Start    int64  `json:"start_ns"`
	Duration int64  `json:"duration_ns"`
}

// amount is the memory of the buffers from a time on.
type amount struct {
	At    int64 `json:"at_ns"`
	Bytes int64 `json:"bytes"`
}

// Evaluate evaluates programs, one after another, and returns the record. Without inputs they are zero. It writes the
// trace of files; without one, programs that the engine cannot evaluate have no record, and that is no error.
func Evaluate(ctx context.Context, d *ane.Device, files *tensorfile.Files, inputs map[string]*ane.Tensor,
	programs ...ane.Source) (*Record, error) {
	var text bytes.Buffer
	err := step.Run(ctx, func(t *step.T) {
		device := step.Must(hal.NewDevice(d, hal.Tracing()))
		t.Later(device.Close)
		line := timeline{Device: device, at: hal.NewSemaphore(0)}
		for _, p := range programs {
			line.run(t.Ctx, p, inputs)
		}
		step.NoError(line.at.Wait(t.Ctx, line.last))
		step.Must(device.Trace().WriteTo(&text))
		step.NoError(files.WriteTrace(text.Bytes()))
	})
	switch {
	case err == nil:
		return read(text.Bytes(), programs)
	case files.Trace == nil:
		err = ctx.Err()
	}
	return nil, err
}

// read returns the record of a trace.
func read(text []byte, programs []ane.Source) (*Record, error) {
	var file struct {
		TraceEvents []struct {
			Name, Cat, Ph string
			Ts, Dur       float64
			Args          struct {
				Bytes int64 `json:"bytes"`
			}
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		return nil, err
	}
	ns := func(us float64) int64 { return int64(math.Round(1000 * us)) }
	r := &Record{Spans: []span{}, Memory: []amount{}}
	for _, e := range file.TraceEvents {
		switch e.Ph {
		case "C":
			r.Memory = append(r.Memory, amount{ns(e.Ts), e.Args.Bytes})
		case "X":
			s := span{Row: e.Cat, Name: e.Name, Start: ns(e.Ts), Duration: ns(e.Dur)}
			if e.Cat == "engine" && len(programs) > 0 {
				s.Program = cli.Visible(strings.TrimSuffix(programs[0].File, ".mil"))
				programs = programs[1:]
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

// timeline is a Device whose submissions follow each other on one Semaphore.
type timeline struct {
	*hal.Device
	at   *hal.Semaphore
	last uint64
}

// next returns the points that the next submission awaits and signals.
func (t *timeline) next() (waits, signals []hal.Point) {
	t.last++
	return []hal.Point{{Semaphore: t.at, Value: t.last - 1}}, []hal.Point{{Semaphore: t.at, Value: t.last}}
}

// run submits the allocations, the evaluation and the deallocations of a program.
func (t *timeline) run(ctx context.Context, program ane.Source, inputs map[string]*ane.Tensor) {
	e := step.Must(t.Prepare(ctx, program))
	c := step.Must(t.NewCommandBuffer(hal.OneShot))
	var buffers []*hal.Buffer
	in, out := map[string]hal.Range{}, map[string]hal.Range{}
	for i, l := range slices.Concat(e.Inputs(), e.Outputs()) {
		waits, signals := t.next()
		b := step.Must(t.Queue().Alloca(ctx, waits, signals, l.Bytes()))
		buffers = append(buffers, b)
		if i >= len(e.Inputs()) {
			out[l.Name] = b.Range(0, l.Bytes())
			continue
		}
		in[l.Name] = b.Range(0, l.Bytes())
		if x := inputs[l.Name]; x != nil {
			c.Update(in[l.Name], x.Bytes()[:l.Bytes()])
		}
	}
	c.Dispatch(e, in, out)
	step.NoError(c.End())
	waits, signals := t.next()
	step.NoError(t.Queue().Execute(ctx, waits, signals, c))
	for _, b := range buffers {
		waits, signals := t.next()
		step.NoError(t.Queue().Dealloca(ctx, waits, signals, b))
	}
}

// Show adds the plots of a Record, which may be missing: its spans, a row for each kind, and the memory of its buffers.
func Show(d *doc.Doc, record *doc.Value) {
	spans := record.Items("spans")
	plots := d.Figures()
	list := doc.NewTable("Spans", "row", "span", "program", "#start", "#time")
	seen := map[string]bool{}
	from, end := math.Inf(1), 0.0 // what comes before the first evaluation is in the table
	for _, s := range spans {
		start := s.At("start_ns").Float()
		end = max(end, start+s.At("duration_ns").Float())
		if seen[s.At("row").Raw] = true; s.At("row").Is("engine") {
			from = min(from, start)
		}
		list.Row(s.Text("row"), s.Text("name"), s.Text("program"), s.Time("start_ns"), s.Time("duration_ns"))
	}
	if math.IsInf(from, 1) {
		from = 0
	}
	from = max(0, from-.03*(end-from))
	rows := slices.DeleteFunc([]string{"submissions", "engine", "copies"}, func(row string) bool { return !seen[row] })
	c := doc.Rows(doc.Axis{Form: doc.DurationOf(1)}, rows)
	c.Height = 100
	for _, s := range spans {
		row := slices.Index(rows, s.At("row").Raw)
		start := s.At("start_ns").Float() - from
		over := start + s.At("duration_ns").Float()
		if row >= 0 && over > 0 {
			c.Rectangle(max(0, start), -float64(row)-.32, over, -float64(row)+.32, doc.Series(row))
		}
	}
	plots.Add(c, doc.Plot{Title: doc.Words("Spans"),
		Caption: doc.Line("submissions, the engine and copies, from just before the first evaluation on"),
		Data:    &doc.Folded{Summary: "All spans", Table: list}}, "A row for each kind of span over the time of the timeline.")
	buffers := doc.Curve{Color: doc.Series(1), Step: true}
	list = doc.NewTable("Memory of buffers", "from", "#bytes")
	last, most := 0.0, 0.0
	for _, p := range record.Items("memory") {
		last = p.At("bytes").Float()
		most = max(most, last)
		buffers.X, buffers.Y = append(buffers.X, p.At("at_ns").Float()), append(buffers.Y, last)
		list.Row(p.Time("at_ns"), p.Size("bytes"))
	}
	if len(list.Rows) > 0 {
		buffers.X, buffers.Y = append(buffers.X, end), append(buffers.Y, last)
	}
	c = &doc.Chart{X: doc.Axis{Form: doc.DurationOf(1)}, Y: doc.Bytes(most), Height: 118}
	c.Add(buffers)
	plots.Add(c, doc.Plot{Title: doc.Words("Memory of the buffers"),
		Caption: doc.Line("allocated and freed in the order of the timeline"),
		Data:    &doc.Folded{Summary: "Figures", Table: list}}, "Memory of the buffers of the timeline over its time.")
	d.Page("Engine spans", doc.Line("One more evaluation of each program, on a timeline with memory in its order."), plots)
}
