//go:build !macrules

package server

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/engine/broker/server/admission"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/broker/wire/wiretest"
	"github.com/anekit/anekit/internal/engine/driverabi"
	"github.com/anekit/anekit/internal/engine/soft"
	"github.com/anekit/anekit/models"
)

// hogSteps is how many products of matrices the hog has; each is a step.
const hogSteps = 25

// chained is a program of n steps, each of the result of the one before.
func chained(name, kind, op string, n int) models.Model {
	var b strings.Builder
	fmt.Fprintf(&b, "program(1.3)\n{\nfunc main<ios18>(%s x) {\n", kind)
	last := "x"
	for i := range n {
		next := fmt.Sprintf("v%d", i)
		fmt.Fprintf(&b, "%s %s = %s;\n", kind, next, strings.ReplaceAll(op, "%s", last))
		last = next
	}
	return models.Model{Name: name, Text: []byte(b.String() + "} -> (" + last + ");\n}")}
}

// whole is the software engine, whose runs and compiles do not yield.
type whole struct{ ane.Engine }

type wholeExec struct{ ane.Executable }

type wholeRun struct{ ane.Invocation }

type plain struct{ context.Context }

func (w whole) Compile(ctx context.Context, src ane.Source) (ane.Executable, error) {
	x, err := w.Engine.Compile(plain{ctx}, src)
	return wholeExec{x}, err
}

func (w wholeExec) Prepare(in, out []*ane.Tensor) (ane.Invocation, error) {
	v, err := w.Executable.Prepare(in, out)
	return wholeRun{v}, err
}

func (w wholeRun) Evaluate(ctx context.Context) error { return w.Invocation.Evaluate(plain{ctx}) }

// bench is a broker, and a way to connect clients to it.
func bench(b *testing.B, workers int, engine func() ane.Engine) (s *server, join func() *peer) {
	s, err := newServer(Config{Engine: engine, Workers: workers}.settled(admission.OwnerPolicy()))
	if err != nil {
		b.Fatal(err)
	}
	var peers []*peer
	ended := make(chan error, MaxClients)
	b.Cleanup(func() {
		for _, p := range peers {
			p.close()
		}
		for range peers {
			if err := <-ended; err != nil {
				b.Error(err)
			}
		}
		if err := s.close(); err != nil {
			b.Error(err)
		}
	})
	return s, func() *peer {
		here, there := wiretest.Pair(b)
		go func() { ended <- newSession(s, there, alice, admission.Process{}).run() }()
		p := newPeer(here)
		peers = append(peers, p)
		if err := p.greet(""); err != nil {
			b.Fatal(err)
		}
		return p
	}
}

// quantile reports a quantile of times.
func quantile(b *testing.B, times []time.Duration, q float64, unit string) {
	slices.Sort(times)
	b.ReportMetric(float64(times[int(q*float64(len(times)-1))])/1e6, unit)
}

// ownProcess gives this process the processors of one that is a broker, and returns the workers of its engine.
func ownProcess(b *testing.B) (workers int) {
	n := runtime.GOMAXPROCS(0)
	b.Cleanup(func() { runtime.GOMAXPROCS(n) })
	return Processors()
}

// BenchmarkNoOpBesideHog is a short request of a high class, asked for while a client of the lowest class runs products
// of matrices without end, each time while the hog runs. It reports the quantiles of its time, and that of two steps of
// the hog.
func BenchmarkNoOpBesideHog(b *testing.B) {
	workers := ownProcess(b)
	for name, engine := range map[string]func() ane.Engine{
		"yields": func() ane.Engine { return soft.New(soft.Workers(workers)) },
		"whole":  func() ane.Engine { return whole{soft.New(soft.Workers(workers))} }, // the floor
	} {
		b.Run(name, func(b *testing.B) {
			s, join := bench(b, workers, engine)
			low, high := join(), join()
			hog, err := low.ready(chained("hog", "tensor<fp16, [1024, 1024]>", "matmul(x = %s, y = %s)", hogSteps),
				driverabi.QoSBackground)
			if err != nil {
				b.Fatal(err)
			}
			begin := time.Now()
			if err := low.evaluate(hog, 0); err != nil {
				b.Fatal(err)
			}
			step := time.Since(begin) / hogSteps
			r, err := high.ready(model(b, "identity"), driverabi.QoSUserInteractive)
			if err != nil {
				b.Fatal(err)
			}
			stop, over := make(chan struct{}), make(chan error, 1)
			go func() {
				for {
					select {
					case <-stop:
						over <- nil
						return
					default:
					}
					if err := low.evaluate(hog, 0); err != nil {
						over <- err
						return
					}
				}
			}()
			var times []time.Duration
			for b.Loop() {
				if !await.Poll(func() bool { return s.driver.Stats().Running == 1 }) {
					b.Fatal("the hog does not run")
				}
				begin := time.Now()
				if err := high.evaluate(r, 0); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(begin))
			}
			close(stop)
			if err := <-over; err != nil {
				b.Fatal(err)
			}
			quantile(b, times, 0.5, "p50-ms")
			quantile(b, times, 0.99, "p99-ms")
			b.ReportMetric(2*float64(step)/1e6, "two-steps-ms")
		})
	}
}

// BenchmarkTinyCompileBesideHogs is the compile of a program of one step while three clients compile programs of 20,000
// steps, eight at a time each.
func BenchmarkTinyCompileBesideHogs(b *testing.B) {
	workers := ownProcess(b)
	for name, engine := range map[string]func() ane.Engine{
		"yields": func() ane.Engine { return soft.New(soft.Workers(workers)) },
		"whole":  func() ane.Engine { return whole{soft.New(soft.Workers(workers))} },
	} {
		b.Run(name, func(b *testing.B) {
			_, join := bench(b, workers, engine)
			tiny := join()
			stop, over := make(chan struct{}), make(chan error, 3)
			long := chained("long", "tensor<fp16, [4]>", "add(x = %s, y = %s)", 20_000)
			for i := range cap(over) {
				p := join()
				go func() { over <- keepCompiling(p, long, i, stop) }()
			}
			var times []time.Duration
			n := 0
			for b.Loop() {
				m := chained("tiny", "tensor<fp16, [4]>", "add(x = %s, y = %s)", 1)
				m.Text = append([]byte(fmt.Sprintf("// %d\n", n)), m.Text...)
				n++
				begin := time.Now()
				c, err := tiny.compile(m)
				if err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(begin))
				if err := tiny.ask(wire.KindRelease, &wire.Release{Program: c.Program}, &wire.Empty{}); err != nil {
					b.Fatal(err)
				}
			}
			close(stop)
			var errs []error
			for range cap(over) {
				errs = append(errs, <-over)
			}
			if err := errors.Join(errs...); err != nil {
				b.Fatal(err)
			}
			quantile(b, times, 0.5, "p50-ms")
			quantile(b, times, 0.99, "p99-ms")
		})
	}
}

// keepCompiling has maxCompiling compiles of programs that differ out, until stop is closed.
func keepCompiling(p *peer, m models.Model, client int, stop <-chan struct{}) error {
	var out []uint64
	for n := 0; ; n++ {
		select {
		case <-stop:
			return nil // what is out ends with the connection
		default:
		}
		text := append([]byte(fmt.Sprintf("// %d %d\n", client, n)), m.Text...)
		f, err := wire.Seal("long", text)
		if err != nil {
			return err
		}
		id, err := p.post(wire.KindCompile, &wire.Compile{TextSize: uint64(len(text))}, int(f.Fd()))
		if err = errors.Join(err, f.Close()); err != nil {
			return err
		}
		if out = append(out, id); len(out) < maxCompiling {
			continue
		}
		var c wire.Compiled
		if err := p.read(out[0], &c); err != nil {
			return err
		}
		out = out[1:]
		if err := p.ask(wire.KindRelease, &wire.Release{Program: c.Program}, &wire.Empty{}); err != nil {
			return err
		}
	}
}
