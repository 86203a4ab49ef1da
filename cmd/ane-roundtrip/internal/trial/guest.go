package trial

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/wasm"
	"github.com/anekit/anekit/internal/access"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/internal/procmem"
)

// chain is the guest of Guest, made of guest/chain.c.
//
//go:embed guest/chain.wasm
var chain []byte

const (
	guestSide    = 128           // width and height of the guest's matrices
	guestBytes   = 2 * 128 * 128 // of each
	guestMemory  = 64 << 20      // limit
	guestTime    = 10 * time.Minute
	crossings    = 1_000_000
	guestRunning = 20 // runs of the copying path, which are timed beside the others
)

// GuestReport holds the figures of a guest on an engine.
type GuestReport struct {
	Engine   string  `json:"engine"`
	Path     string  `json:"path"` // "offset": tensors in the guest's Block; "surface": surfaces mapped over its memory
	Elements int     `json:"elements"`
	Errors   int     `json:"errors"`
	Pointer  uint64  `json:"pointer"`         // of the product, in the guest
	Address  uint64  `json:"address"`         // of the product, in this process
	Tensor   uint64  `json:"tensor_address"`  // of the tensor that is bound
	Unshared int     `json:"unshared_bytes"`  // of the matrices, that the engine does not reach at the guest's pointer
	Copied   int64   `json:"bytes_copied"`    // by the host, in all runs
	Growth   *int64  `json:"growth_bytes"`    // null: the system reports no memory
	Latency  float64 `json:"evaluate_p50_ns"` // of a guest's call
	Copying  struct {
		Errors  int     `json:"errors"`
		Copied  int64   `json:"bytes_copied_per_run"`
		Growth  *int64  `json:"growth_bytes"`
		Latency float64 `json:"evaluate_p50_ns"`
	} `json:"copying"` // the path with copies
	Crossing float64 `json:"crossing_ns"` // of one call from the guest to the host and back
}

// check is the name of a check.
func (rep *GuestReport) check(what string) string { return "wasm/" + rep.Path + "/" + what }

// Guest runs the chain of WebAssembly on an engine. A guest fills two matrices, the engine multiplies them, and the
// guest reads the product through the pointer that it bound. Then it does the same with copies, to compare.
func Guest(ctx context.Context, d *ane.Device, iterations int) (GuestReport, []Check, error) {
	rep := GuestReport{Engine: d.Receipt().Engine, Path: "surface", Elements: guestSide * guestSide}
	if d.Info().Offsets {
		rep.Path = "offset"
	}
	growths := []string{rep.check("growth"), rep.check("growth-copying")}
	checks, err := Step{growths, func(t *T) { rep.measure(t, d, iterations) }}.Make(ctx)
	if len(checks) == 0 && errors.Is(err, wasm.CodeUnsupported) {
		checks, err = []Check{Skipped(rep.check("values"), "this system maps no surface over a guest's memory")}, nil
	}
	return rep, checks, err
}

func (rep *GuestReport) measure(t *T, d *ane.Device, iterations int) {
	g := t.guest(d)
	rep.Errors, rep.Latency = g.values(iterations)
	rep.Copied = g.Copied()
	g.identity(rep)
	t.Add(Compare(rep.check("values"), float64(rep.Errors), "errors", AtMost(0),
		"%d elements of the product, read by the guest through the pointer that it bound", rep.Elements))
	if rep.Unshared < 0 {
		t.Add(Skipped(rep.check("identity"), unexposed))
	} else {
		how := fmt.Sprintf("the tensor's pages are mapped over it, and at %#x", rep.Tensor)
		if rep.Tensor == rep.Address {
			how = "the tensor's own address"
		}
		same := rep.Unshared == 0 && (rep.Path == "surface" || rep.Tensor == rep.Address)
		t.Add(Judge(rep.check("identity"), same, float64(rep.Unshared), "bytes",
			"not reached by the engine at the guest's pointers; %#x of the guest is %#x here, %s", rep.Pointer,
			rep.Address, how).Against(AtMost(0)))
	}
	t.Add(Compare(rep.check("copies"), float64(rep.Copied), "bytes", AtMost(0), "copied by the host for %d runs",
		iterations+1))

	c, runs := t.guest(d, wasm.Copying()), max(iterations, guestRunning)
	rep.Copying.Errors, rep.Copying.Latency = c.values(runs)
	rep.Copying.Copied = c.Copied() / int64(runs+1)
	rep.Crossing = g.crossing()
	t.Add(Judge(rep.check("boundary"), true, rep.Crossing, "ns",
		"for a call from the guest to the host and back; a run takes %s in place and %s with copies",
		time.Duration(rep.Latency), time.Duration(rep.Copying.Latency)))
	limit, least := InPlace(), Region-InPlace()
	here := g.growth(1-limit, limit)
	rep.Growth = &here
	copied := c.growth(least, math.MaxInt64)
	rep.Copying.Growth = &copied
	if host.Mac && copied < least {
		const why = "a copy made on purpose does not show in the memory of this process"
		t.Add(Skipped(rep.check("growth"), why), Skipped(rep.check("growth-copying"), why))
		return
	}
	t.Add(Compare(rep.check("growth"), float64(here)/1e6, "MB", AtMost(float64(limit)/1e6),
		"more proportional memory after a tensor of 16 MiB was bound and evaluated in place"),
		Compare(rep.check("growth-copying"), float64(copied)/1e6, "MB", AtLeast(float64(least)/1e6),
			"the same with copies, which this check has to see"))
}

// guest is a running guest.
type guest struct {
	t *T
	*wasm.Guest
	request int32
}

// guest starts a guest, whose programs are the product of two matrices, and the largest element of each channel of a
// Region.
func (t *T) guest(d *ane.Device, opts ...wasm.Option) *guest {
	product := Program("product", func(f *mil.FuncBuilder) {
		x := f.Input("a", mil.FP16, 1, 1, guestSide, guestSide)
		y := f.Input("b", mil.FP16, 1, 1, guestSide, guestSide)
		no := f.Const("no", mil.BoolScalar(false))
		f.Output(f.Op("matmul", mil.TensorOf(mil.FP16, 1, 1, guestSide, guestSide), "c", mil.A("transpose_x", no),
			mil.A("transpose_y", no), mil.A("x", x), mil.A("y", y)))
	})
	// Uninterrupted, since the guest is this package's own.
	h := Must(wasm.NewHost(t.Ctx, d, append(opts, wasm.Program("product", product),
		wasm.Program("maximum", maximum(Region>>19)), wasm.Uninterrupted())...))
	t.Later(h.Close)
	code := Must(h.Compile(t.Ctx, chain))
	t.Later(code.Close)
	g := &guest{t: t, Guest: Must(code.Start(t.Ctx, wasm.Limits{Memory: guestMemory, Time: guestTime}))}
	t.Later(g.Close)
	g.request = g.ask("open")
	return g
}

// ask calls an export, and makes an error of a code that it returns.
func (g *guest) ask(name string, args ...uint64) int32 {
	results := Must(g.Call(g.t.Ctx, name, args...))
	if len(results) == 0 {
		return 0
	}
	n := int32(uint32(results[0]))
	if n < 0 {
		NoError(fmt.Errorf("the guest's %s: %w", name, wasm.Code(n)))
	}
	return n
}

// values fills, runs and reads the matrices for several seeds, and times the runs.
func (g *guest) values(iterations int) (wrong int, latency float64) {
	times := make([]time.Duration, 0, iterations)
	for i := range iterations + 1 {
		if i < 3 {
			g.ask("fill", uint64(i))
		}
		start := time.Now()
		g.ask("evaluate")
		if i > 0 {
			times = append(times, time.Since(start))
		}
		if i < 3 {
			wrong = max(wrong, int(g.ask("errors", uint64(i))), g.errors(i))
		}
	}
	slices.Sort(times)
	return wrong, float64(times[len(times)/2])
}

// matrix returns the guest's matrix i, in place, and its pointer.
func (g *guest) matrix(i int) ([]byte, uint64) {
	p := uint64(uint32(g.ask("pointer", uint64(i))))
	return Must(g.Memory().Range(p, guestBytes)), p
}

// errors counts the wrong elements of the product as the host sees it.
func (g *guest) errors(seed int) int {
	c, _ := g.matrix(2)
	value := func(matrix int) func(int) int {
		return func(i int) int { return (i*7+i/guestSide*3+matrix+seed)%5 - 2 }
	}
	return WrongProducts(guestSide, value(0), value(1), func(i int) float32 {
		return (fp16.Bits(c[2*i]) | fp16.Bits(c[2*i+1])<<8).Float32()
	})
}

// WrongProducts counts the elements of the product of a and b, matrices of n x n whole numbers in rows, that differ.
func WrongProducts(n int, a, b func(i int) int, product func(i int) float32) (wrong int) {
	for i := range n * n {
		want := 0
		for k := range n {
			want += a(i/n*n+k) * b(k*n+i%n)
		}
		if product(i) != float32(want) {
			wrong++
		}
	}
	return wrong
}

// identity compares the guest's memory with what the engine has mapped, page by page.
func (g *guest) identity(rep *GuestReport) {
	r := g.Bound(g.request)
	for i, name := range []string{"a", "b", "c"} {
		bytes, p := g.matrix(i)
		t := r.Output(name)
		if i < 2 {
			t = r.Input(name)
		}
		rep.Pointer, rep.Address = p, uint64(g.Memory().Address())+p
		rep.Tensor = uint64(t.Block().Address()) + uint64(t.Offset())
		mem, engine := local(bytes), engineSide(r, t, i < 2)
		if engine == nil {
			rep.Unshared = -1
			return
		}
		rep.Unshared += apart(mem, engine)
	}
}

// growth measures the growth of memory by a tensor of a Region that is bound and evaluated, until it is from low to
// high. The engine has run once with another tensor of that size, and all pages of the tensor exist.
func (g *guest) growth(low, high int64) int64 {
	var pids []int
	if pid, _ := access.Address(g.Bound(g.request), access.Input, "a"); pid != 0 {
		pids = []int{os.Getpid(), pid}
	}
	for i := range uint64(2) { // surfaces are mapped before the guest writes to them
		g.ask("bind_large", i)
		g.ask("fill_large", i, 3)
		if i == 0 {
			g.ask("evaluate_large")
		}
		g.ask("end_large")
	}
	read := Meter(func() (int64, error) { return procmem.Proportional(pids...) })
	return Repeated(40, low, high, func() int64 {
		grown := read.Growing(func() {
			g.ask("bind_large", 1)
			g.ask("evaluate_large")
			debug.FreeOSMemory()
		})
		g.ask("end_large")
		return grown
	})
}

// crossing is the time of a call from the guest to the host and back, in nanoseconds, the least of several rounds.
func (g *guest) crossing() float64 {
	least := [2]time.Duration{1 << 62, 1 << 62}
	for range rounds {
		for i, name := range []string{"cross", "count"} {
			start := time.Now()
			g.ask(name, crossings)
			least[i] = min(least[i], time.Since(start))
		}
	}
	return float64(least[0]-least[1]) / crossings
}
