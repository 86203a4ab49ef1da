package driver

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// world runs one call after another against a driver and against a model of it that is a
// few lists, and compares every answer and every count. The engine ends a run when the
// world says so, so that requests stand in flight while the rest is tried. All requests
// have one class, so they end in the order in which they came.
type world struct {
	*rig
	step     chan struct{}
	programs []uint64
	surfaces []uint32
	users    []*user
	line     []flying // in the queue, the first one running
	ended    uint64
	seen     map[outcome]int // answers of the calls
}

// outcome is an answer of a call, by the handler's name.
type outcome struct {
	call string
	ret  driverabi.Return
}

// same compares an answer with the model's.
func (w *world) same(call string, want driverabi.Return, got error) {
	require.Equal(w.t, want, Code(got), call)
	w.seen[outcome{call, want}]++
}

// flying is a request in flight.
type flying struct {
	user     *user
	sequence uint32
	program  int
	surfaces [2]int
}

// user is what the model knows of one client.
type user struct {
	info     ClientInfo
	client   *Client
	done     chan Completion
	open     [2]bool   // control, direct
	created  [3]int    // by program: absent, then the states of an attachment, each plus 1
	token    [3]uint64 // the last one
	mapped   [4]bool   // by surface
	next     uint32
	expected []Completion // ends that are due, in no order
}

const worldDepth = 4

func newWorld(t testing.TB) *world {
	w := &world{rig: newRig(t).bounded(worldDepth, totalDepth), step: make(chan struct{}), seen: map[outcome]int{}}
	w.engine.evaluate = func(ctx context.Context, _ []*ane.Tensor) error {
		select {
		case <-w.step:
			return nil
		case <-ctx.Done():
			return ane.Deadline("evaluate", "fake", ctx.Err())
		}
	}
	for range 3 {
		w.programs = append(w.programs, w.program())
	}
	for range 4 {
		w.surfaces = append(w.surfaces, w.surface(1))
	}
	for _, identity := range []string{"one", "one", "two"} {
		u := &user{info: privileged}
		u.info.Identity = identity
		w.users = append(w.users, u)
		w.arrive(u)
	}
	return w
}

// arrive attaches u again.
func (w *world) arrive(u *user) {
	info, done := u.info, make(chan Completion, 64)
	info.Wake = func(d Completion) { done <- d }
	*u = user{info: u.info, done: done, client: w.attach(info)}
}

// abort takes what match finds out of the line, with an end for each.
func (w *world) abort(match func(flying) bool) {
	w.line = slices.DeleteFunc(w.line, func(f flying) bool {
		if match(f) {
			w.end(f, driverabi.Aborted)
		}
		return match(f)
	})
}

func (w *world) end(f flying, ret driverabi.Return) {
	due := Completion{Port: 5, Sequence: f.sequence}
	if ret != ok {
		due.Err = ret
	}
	f.user.expected = append(f.user.expected, due)
	w.ended++
	w.seen[outcome{"end", ret}]++
}

// settle waits for the ends that are due and compares the counts.
func (w *world) settle() {
	for _, u := range w.users {
		for len(u.expected) > 0 {
			got := within(w.t, u.done)
			i := slices.IndexFunc(u.expected, func(d Completion) bool {
				return d.Port == got.Port && d.Sequence == got.Sequence && Code(d.Err) == Code(got.Err)
			})
			require.NotEqual(w.t, -1, i, "end %+v, due %+v", got, u.expected)
			u.expected = slices.Delete(u.expected, i, i+1)
		}
		require.Empty(w.t, u.done)
	}
	var want Stats
	want.Resources, want.Completed = len(w.programs)+len(w.surfaces), w.ended
	for p := range w.programs {
		if slices.ContainsFunc(w.users, func(u *user) bool { return u.created[p] == isPrepared+1 }) {
			want.Resident++
		}
	}
	for s := range w.surfaces {
		if slices.ContainsFunc(w.users, func(u *user) bool { return u.mapped[s] }) {
			want.Mapped++
		}
	}
	for _, u := range w.users {
		if u.client != nil {
			want.Clients++
		}
	}
	if len(w.line) > 0 {
		want.Queued, want.Running = len(w.line)-1, 1
	}
	have := func() Stats {
		s := w.driver.Stats()
		s.Bound, s.Levels = 0, want.Levels
		return s
	}
	if have() != want { // the engine's goroutine may be on its way to the next one
		soon(w.t, func() bool { return have() == want }, "the counts of the model")
	}
	level := w.driver.Stats().Levels[driverabi.Class(driverabi.QoSDefault).Queue]
	require.Equal(w.t, w.ended, level.Completed+level.Cancelled)
	require.Equal(w.t, want.Queued, level.Waiting)
}

func FuzzModel(f *testing.F) {
	random := rand.New(rand.NewPCG(3, 4))
	for range 20 {
		b := make([]byte, 600)
		for i := range b {
			b[i] = byte(random.Uint32())
		}
		f.Add(b)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		w := newWorld(t)
		for len(data) >= 4 {
			w.call(data[0], int(data[1]), int(data[2]), int(data[3]))
			w.settle()
			data = data[4:]
		}
		for _, u := range w.users {
			w.leave(u)
		}
		w.settle()
	})
}

// TestModel is FuzzModel with more calls than its seeds have.
func TestModel(t *testing.T) {
	seen := map[outcome]int{}
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 8))
		w := newWorld(t)
		for range 3000 {
			w.call(byte(random.Uint32()), int(random.Uint32N(256)), int(random.Uint32N(256)), int(random.Uint32N(256)))
			w.settle()
		}
		for _, u := range w.users {
			w.leave(u)
		}
		w.settle()
		for k, n := range w.seen {
			seen[k] += n
		}
	}
	for call, answers := range map[string][]driverabi.Return{
		"open": {ok, bad}, "close": {ok, driverabi.NotOpen}, "create": {ok, bad, driverabi.NotOpen,
			driverabi.NotPermitted},
		"prepare": {ok, bad, driverabi.NotOpen}, "unprepare": {ok, bad, driverabi.NotOpen, driverabi.Busy},
		"destroy": {ok, bad, driverabi.NotOpen}, "map": {ok, driverabi.NotOpen}, "unmap": {ok, bad, driverabi.NotOpen,
			driverabi.Busy},
		"send": {ok, bad, driverabi.NotOpen, driverabi.NotReady, Full}, "end": {ok, driverabi.Aborted},
	} {
		for _, ret := range answers {
			require.Greater(t, seen[outcome{call, ret}], 10, "%s is hardly tried: %v", call, ret)
		}
	}
}
