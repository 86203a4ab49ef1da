package hal

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"sync"
	"time"
)

// Trace is the record of a Device with Tracing: an io.WriterTo of JSON for Perfetto and chrome://tracing, a
// {"traceEvents": [..]} without other fields. Times are microseconds since NewDevice. Rows (tid) of the one process
// (pid 1) are "waits", "submissions", "engine", "copies" and "memory". For each submission whose signal reached a
// point, an arrow leads from its end to the start of each submission of the Device that awaited the point. An arrow is
// two events of one id, "s" and "f", always both. The counter "memory" has the bytes of Buffers.
//
// After 1,000,000 events later ones are left out, arrows as a whole; an event "dropped" has their number.
type Trace struct {
	on     bool
	engine string
	start  time.Time

	mu      sync.Mutex // guards the fields below
	events  []event
	dropped int
	bytes   int
	arrows  int
	rows    [rows][]time.Duration      // ends of the spans of each lane
	reached map[*Semaphore][]traceMark // signals of submissions, values rising
}

// maxEvents bounds the memory of a Trace.
const maxEvents = 1_000_000

// traceMark is a value that a submission signaled.
type traceMark struct {
	value uint64
	at    time.Duration
	tid   int
}

// row is a group of rows of a Trace: lanes of it have spans that do not overlap.
type row int

const (
	rowWaits row = iota
	rowSubmissions
	rowEngine
	rowCopies
	rowMemory
	rows
)

func (r row) String() string {
	return [...]string{"waits", "submissions", "engine", "copies", "memory"}[r]
}

// lanes is the largest number of lanes of a row.
const lanes = 1000

// event is an event of the format.
type event struct {
	Name      string         `json:"name"`
	Category  string         `json:"cat,omitempty"`
	Phase     string         `json:"ph"`
	Time      float64        `json:"ts"`
	Duration  *float64       `json:"dur,omitempty"`
	Process   int            `json:"pid"`
	Thread    int            `json:"tid"`
	ID        int            `json:"id,omitempty"`
	Bind      string         `json:"bp,omitempty"`
	Arguments map[string]any `json:"args,omitempty"`
}

func newTrace(on bool, engine string) *Trace {
	return &Trace{on: on, engine: engine, start: time.Now(), reached: map[*Semaphore][]traceMark{}}
}

// now returns the time since the start, 0 without Tracing.
func (t *Trace) now() time.Duration {
	if !t.on {
		return 0
	}
	return time.Since(t.start)
}

func microseconds(d time.Duration) float64 { return float64(d.Nanoseconds()) / 1e3 }

// add adds events, or counts them if they do not all fit. The caller holds mu.
func (t *Trace) add(events ...event) {
	if len(t.events)+len(events) > maxEvents {
		t.dropped += len(events)
		return
	}
	t.events = append(t.events, events...)
}

// span adds a span in a lane of the row that is free then, and returns its thread. The caller holds mu.
func (t *Trace) span(r row, name string, from, to time.Duration, args map[string]any) int {
	i := slices.IndexFunc(t.rows[r], func(end time.Duration) bool { return end <= from })
	if i < 0 {
		if len(t.rows[r]) < lanes {
			t.rows[r] = append(t.rows[r], 0)
		}
		i = len(t.rows[r]) - 1
	}
	t.rows[r][i] = to
	tid := int(r)*lanes + i
	d := microseconds(to - from)
	t.add(event{Name: name, Category: r.String(), Phase: "X", Time: microseconds(from), Duration: &d, Process: 1,
		Thread: tid, Arguments: args})
	return tid
}

// memory adds n bytes to those of Buffers.
func (t *Trace) memory(n int) {
	if !t.on {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.bytes += n
	t.add(event{Name: "memory", Category: "memory", Phase: "C", Time: microseconds(t.now()), Process: 1,
		Thread: int(rowMemory) * lanes, Arguments: map[string]any{"bytes": t.bytes}})
}

// command adds a command that ran from at until now.
func (t *Trace) command(s *submission, g *segment, at time.Duration) {
	now := t.now()
	r, args := rowCopies, map[string]any{"submission": s.number, "command": g.number}
	if g.kind == opDispatch {
		r = rowEngine
		args["engine"] = t.engine
	} else {
		args["bytes"] = g.dst.Length
		args["joined"] = g.joined
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.span(r, g.kind.String(), at, now, args)
}

// submission adds a submission that has ended, before its signals are visible.
func (t *Trace) submission(s *submission, err error) {
	now := t.now()
	begun := s.starts
	if begun == 0 {
		begun = now // it failed before its batch
	}
	args := map[string]any{"submission": s.number}
	if err != nil {
		args["error"] = err.Error()
	}
	name := fmt.Sprintf("%v %d", s.work, s.number)
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(s.waits) > 0 {
		t.span(rowWaits, "wait "+name, s.at, begun, map[string]any{"submission": s.number, "points": len(s.waits)})
	}
	tid := t.span(rowSubmissions, name, begun, now, args)
	for i := range s.waits {
		t.arrow(s.from[i], s.waits[i].value, begun, tid)
	}
	if err != nil || t.dropped > 0 {
		return
	}
	for _, p := range s.signals {
		all := t.reached[p.Semaphore]
		if len(all) == 0 || all[len(all)-1].value < p.Value {
			t.reached[p.Semaphore] = append(all, traceMark{p.Value, now, tid})
		}
	}
}

// arrow adds an arrow from the submission that reached a point, if one of this Device did, to the start of one that
// awaited it. The caller holds mu.
func (t *Trace) arrow(s *Semaphore, v uint64, at time.Duration, tid int) {
	all := t.reached[s]
	i, _ := slices.BinarySearchFunc(all, v, func(m traceMark, v uint64) int { return cmp.Compare(m.value, v) })
	if i == len(all) || all[i].at > at {
		return
	}
	t.arrows++
	from := event{Name: "signal", Category: "timeline", Phase: "s", Time: microseconds(all[i].at), Process: 1,
		Thread: all[i].tid, ID: t.arrows, Arguments: map[string]any{"value": v}}
	to := from
	to.Phase, to.Time, to.Thread, to.Bind = "f", microseconds(at), tid, "e"
	t.add(from, to)
}

// WriteTo writes what is recorded so far. It may be called any number of times, also after Close of the Device. The
// error is ErrClosed for a nil Writer, and that of w.
func (t *Trace) WriteTo(w io.Writer) (int64, error) {
	if w == nil {
		return 0, closed("trace", "nil Writer", "give one")
	}
	events := []event{}
	if t != nil && t.on {
		events = t.all()
	}
	data, err := json.Marshal(map[string]any{"traceEvents": events})
	if err != nil {
		return 0, err
	}
	n, err := w.Write(append(data, '\n'))
	return int64(n), err
}

// all returns the events, after those that name the rows.
func (t *Trace) all() (events []event) {
	t.mu.Lock()
	defer t.mu.Unlock()
	name := func(what string, tid int, value string) {
		events = append(events, event{Name: what, Phase: "M", Process: 1, Thread: tid,
			Arguments: map[string]any{"name": value}})
	}
	name("process_name", 0, "timelines on "+t.engine)
	for r, all := range t.rows {
		for i := range all {
			name("thread_name", r*lanes+i, row(r).String())
		}
	}
	if t.dropped > 0 {
		events = append(events, event{Name: "dropped", Phase: "M", Process: 1,
			Arguments: map[string]any{"events": t.dropped}})
	}
	return append(events, t.events...)
}
