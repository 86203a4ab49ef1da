package driver

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// warm returns one request after another of the same program and surfaces.
func warm(t testing.TB, s *software, port uint64, flags uint32) func() error {
	a := ask{token: s.token, port: port, surfaces: s.ids, submit: Submit{Flags: flags}}.args()
	sequence := uint32(0)
	return func() error {
		le.PutUint32(a.StructIn[8:], sequence)
		sequence++
		return s.client.Control(2, a)
	}
}

func TestWarmRequestsAllocateNothing(t *testing.T) {
	s := newSoft(t, smallest)
	ended := make(chan error, 1)
	s.client.info.Wake = func(d Completion) { ended <- d.Err }
	for name, tc := range map[string]struct {
		port  uint64
		flags uint32
	}{"no port": {0, 0}, "inline": {1, RunInline}, "queued": {1, 0}} {
		s.client.next = 0
		send := warm(t, s, tc.port, tc.flags)
		one := func() {
			if ret := send(); ret != nil {
				t.Errorf("%s: %v", name, ret)
			}
			if tc.port != 0 && <-ended != nil {
				t.Errorf("%s: failed", name)
			}
		}
		one()
		require.Zero(t, testing.AllocsPerRun(2000, one), name)
	}
}

// BenchmarkSend is a no-op request through selector 2, run on the caller's goroutine.
func BenchmarkSend(b *testing.B) {
	s := newSoft(b, smallest)
	send := warm(b, s, 0, 0)
	send()
	b.ReportAllocs()
	for b.Loop() {
		if ret := send(); ret != nil {
			b.Fatal(ret)
		}
	}
}

// BenchmarkSendQueued is the same through the queue and the engine's goroutine, with the
// completion at a port.
func BenchmarkSendQueued(b *testing.B) {
	s := newSoft(b, smallest)
	ended := make(chan error, 1)
	s.client.info.Wake = func(d Completion) { ended <- d.Err }
	send := warm(b, s, 1, 0)
	b.ReportAllocs()
	for b.Loop() {
		send()
		if ret := <-ended; ret != nil {
			b.Fatal(ret)
		}
	}
}

// BenchmarkSendFloor is the bare run that a request is made of.
func BenchmarkSendFloor(b *testing.B) {
	s := newSoft(b, smallest)
	v, err := s.exec.Prepare(s.tensors[:1], s.tensors[1:])
	require.NoError(b, err)
	defer func() { require.NoError(b, v.Close()) }()
	b.ReportAllocs()
	for b.Loop() {
		if err := v.Evaluate(context.Background()); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSendQueuedFloor is two goroutines that hand a value to each other and back
// around the bare run.
func BenchmarkSendQueuedFloor(b *testing.B) {
	s := newSoft(b, smallest)
	v, err := s.exec.Prepare(s.tensors[:1], s.tensors[1:])
	require.NoError(b, err)
	defer func() { require.NoError(b, v.Close()) }()
	to, back := make(chan bool), make(chan error, 1)
	go func() {
		for range to {
			back <- v.Evaluate(context.Background())
		}
	}()
	defer close(to)
	b.ReportAllocs()
	for b.Loop() {
		to <- true
		if err := <-back; err != nil {
			b.Fatal(err)
		}
	}
}
