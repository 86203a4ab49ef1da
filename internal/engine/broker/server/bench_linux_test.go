//go:build !macrules

package server

import (
	"testing"

	"github.com/anekit/anekit/internal/engine/broker/server/admission"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/broker/wire/wiretest"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// BenchmarkEvaluate is a run of 2,048 elements, asked for and answered over a socket.
func BenchmarkEvaluate(b *testing.B) {
	s, err := newServer(Config{}.settled(admission.OwnerPolicy()))
	if err != nil {
		b.Fatal(err)
	}
	here, there := wiretest.Pair(b)
	done := make(chan error, 1)
	go func() { done <- newSession(s, there, alice, admission.Process{}).run() }()
	p := newPeer(here)
	if err := p.greet(""); err != nil {
		b.Fatal(err)
	}
	r, err := p.ready(model(b, "identity"), driverabi.QoSDefault)
	if err != nil {
		b.Fatal(err)
	}
	ask := newRawEvaluate(p, r)
	b.ReportAllocs()
	for b.Loop() {
		if err := ask(); err != nil {
			b.Fatal(err)
		}
	}
	p.close()
	if err := <-done; err != nil {
		b.Fatal(err)
	}
	if err := s.close(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkEvaluateFloor is the same two frames with nothing between them.
func BenchmarkEvaluateFloor(b *testing.B) {
	here, there := wiretest.Pair(b)
	go func() {
		buf, body := make([]byte, wire.MaxFrame), make([]byte, 0, 64)
		for {
			f, _, err := there.Receive(buf)
			if err != nil {
				return
			}
			var q wire.Evaluate
			if wire.Parse(f.Payload, &q) != nil {
				return
			}
			d := wire.Done{Sequence: q.Sequence}
			body = wire.Append(body[:0], &d)
			if there.Send(wire.Frame{Kind: f.Kind | wire.Reply, ID: f.ID, Payload: body}) != nil {
				return
			}
		}
	}()
	ask := newRawEvaluate(newPeer(here), &run{})
	b.ReportAllocs()
	for b.Loop() {
		if err := ask(); err != nil {
			b.Fatal(err)
		}
	}
	_, _ = here.Close(), there.Close()
}
