package trial

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"runtime/debug"
	"slices"
	"time"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/fp16"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/ane/wasm"
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
	guestLarge   = 16 << 20      // bytes of the tensor of the growth
	guestMemory  = 64 << 20      // limit
	guestTime    = 10 * time.Minute
	crossings    = 1_000_000
	guestRunning = 20 // runs of the copying path, which are timed beside the others
)

// guestGrowth is the most growth without a copy, 0.05 MB. A Mac's footprint counts more than the tensor's pages: there it
// is half of a copy.
func guestGrowth() int64 {
	if host.Mac {
		return guestLarge / 2
	}
	return 50_000
}

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

// Guest runs the chain of WebAssembly on an engine: a guest fills two matrices, the engine multiplies them, and the
// guest reads the product through the pointer that it bound; then the same with copies, to compare.
func Guest(ctx context.Context, d *ane.Device, iterations int) (rep GuestReport, checks []Check, err error) {
	rep.Engine, rep.Path, rep.Elements = d.Receipt().Engine, "surface", guestSide*guestSide
	if d.Info().Offsets {
		rep.Path = "offset"
	}
	name := func(what string) string { return "wasm/" + rep.Path + "/" + what }
	g, err := startGuest(ctx, d)
	if errors.Is(err, wasm.CodeUnsupported) {
		return rep, []Check{Skipped(name("values"), "this system maps no surface over a guest's memory")}, nil
	}
	if err != nil {
		return rep, nil, err
	}
	defer func() { err = errors.Join(err, g.close(ctx)) }()
	if err := g.values(ctx, &rep, iterations); err != nil {
		return rep, nil, err
	}
	checks = append(checks, Judge(name("values"), rep.Errors == 0, float64(rep.Errors), "errors",
		"%d elements of the product, read by the guest through the pointer that it bound", rep.Elements).
		Against(AtMost(0)))
	if rep.Unshared < 0 {
		checks = append(checks, Skipped(name("identity"), "the engine does not expose its mapping of the memory"))
	} else {
		how := fmt.Sprintf("the tensor's pages are mapped over it, and at %#x", rep.Tensor)
		if rep.Tensor == rep.Address {
			how = "the tensor's own address"
		}
		same := rep.Unshared == 0 && (rep.Path == "surface" || rep.Tensor == rep.Address)
		checks = append(checks, Judge(name("identity"), same, float64(rep.Unshared), "bytes",
			"not reached by the engine at the guest's pointers; %#x of the guest is %#x here, %s", rep.Pointer,
			rep.Address, how).Against(AtMost(0)))
	}
	checks = append(checks, Judge(name("copies"), rep.Copied == 0, float64(rep.Copied), "bytes",
		"copied by the host for %s", counted(iterations+1, "run")).Against(AtMost(0)))

	c, err := startGuest(ctx, d, wasm.Copying())
	if err != nil {
		return rep, checks, err
	}
	defer func() { err = errors.Join(err, c.close(ctx)) }()
	var other GuestReport
	if err := c.values(ctx, &other, max(iterations, guestRunning)); err != nil {
		return rep, checks, err
	}
	rep.Copying.Errors, rep.Copying.Latency = other.Errors, other.Latency
	rep.Copying.Copied = other.Copied / int64(max(iterations, guestRunning)+1)

	inPlace := func(bytes int64) bool { return bytes > -guestGrowth() && bytes <= guestGrowth() }
	copied := func(bytes int64) bool { return bytes >= guestLarge-guestGrowth() }
	rep.Growth, err = g.growth(ctx, inPlace)
	if err == nil {
		rep.Copying.Growth, err = c.growth(ctx, copied)
	}
	switch {
	case errors.Is(err, errUnread):
		checks = append(checks, Skipped(name("growth"), "%v", err), Skipped(name("growth-copying"), "%v", err))
	case err != nil:
		return rep, checks, err
	case host.Mac && !copied(*rep.Copying.Growth):
		const why = "a copy made on purpose does not show in the memory of this process"
		checks = append(checks, Skipped(name("growth"), why), Skipped(name("growth-copying"), why))
	default:
		checks = append(checks,
			Judge(name("growth"), inPlace(*rep.Growth), float64(*rep.Growth)/1e6, "MB",
				"more proportional memory after a tensor of 16 MiB was bound and evaluated in place").
				Against(AtMost(float64(guestGrowth())/1e6)),
			Judge(name("growth-copying"), copied(*rep.Copying.Growth),
				float64(*rep.Copying.Growth)/1e6, "MB", "the same with copies, which this check has to see").
				Against(AtLeast(float64(guestLarge-guestGrowth())/1e6)))
	}
	rep.Crossing, err = g.crossing(ctx)
	checks = append(checks, Judge(name("boundary"), err == nil, rep.Crossing, "ns",
		"for a call from the guest to the host and back; a run takes %s in place and %s with copies",
		time.Duration(rep.Latency), time.Duration(rep.Copying.Latency)))
	return rep, checks, err
}

func counted(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// guest is a running guest.
type guest struct {
	host *wasm.Host
	code *wasm.Binary
	*wasm.Guest
	request int32
}

func startGuest(ctx context.Context, d *ane.Device, opts ...wasm.Option) (g *guest, err error) {
	programs, err := guestPrograms()
	if err != nil {
		return nil, err
	}
	for name, src := range programs {
		opts = append(opts, wasm.Program(name, src))
	}
	opts = append(opts, wasm.Uninterrupted()) // the guest is this package's own
	g = &guest{}
	if g.host, err = wasm.NewHost(ctx, d, opts...); err != nil {
		return nil, err
	}
	if g.code, err = g.host.Compile(ctx, chain); err == nil {
		if g.Guest, err = g.code.Start(ctx, wasm.Limits{Memory: guestMemory, Time: guestTime}); err == nil {
			g.request, err = g.ask(ctx, "open")
		}
	}
	if err != nil {
		return nil, errors.Join(err, g.close(ctx))
	}
	return g, nil
}

// close closes guest, code and host, as far as they are open.
func (g *guest) close(ctx context.Context) error {
	var errs []error
	if g.Guest != nil {
		errs = append(errs, g.Guest.Close(ctx))
	}
	if g.code != nil {
		errs = append(errs, g.code.Close(ctx))
	}
	return errors.Join(append(errs, g.host.Close(ctx))...)
}

// ask calls an export, and makes an error of a code that it returns.
func (g *guest) ask(ctx context.Context, name string, args ...uint64) (int32, error) {
	results, err := g.Call(ctx, name, args...)
	if err != nil || len(results) == 0 {
		return 0, err
	}
	n := int32(uint32(results[0]))
	if n < 0 {
		return n, fmt.Errorf("the guest's %s: %w", name, wasm.Code(n))
	}
	return n, nil
}

// guestPrograms are the product of two matrices, and the largest element of each channel of a tensor of 16 MiB.
func guestPrograms() (map[string]ane.Source, error) {
	b := mil.NewBuilder()
	f := b.Func("main")
	matrix := mil.TensorOf(mil.FP16, 1, 1, guestSide, guestSide)
	x := f.Input("a", mil.FP16, 1, 1, guestSide, guestSide)
	y := f.Input("b", mil.FP16, 1, 1, guestSide, guestSide)
	no := f.Const("no", mil.BoolScalar(false))
	f.Output(f.Op("matmul", matrix, "c", mil.A("transpose_x", no), mil.A("transpose_y", no), mil.A("x", x),
		mil.A("y", y)))
	product, err := b.Program()
	if err != nil {
		return nil, err
	}
	maximum, err := maximumOf(guestLarge >> 19)
	return map[string]ane.Source{"product": {File: "product.mil", Program: product}, "maximum": maximum}, err
}

// values fills, runs and reads the matrices for several seeds, and times the runs.
func (g *guest) values(ctx context.Context, rep *GuestReport, iterations int) error {
	times := make([]time.Duration, 0, iterations)
	for i := range iterations + 1 {
		first := i < 3
		if first {
			if _, err := g.ask(ctx, "fill", uint64(i)); err != nil {
				return err
			}
		}
		start := time.Now()
		if _, err := g.ask(ctx, "evaluate"); err != nil {
			return err
		}
		if i > 0 {
			times = append(times, time.Since(start))
		}
		if !first {
			continue
		}
		n, err := g.ask(ctx, "errors", uint64(i))
		if err != nil {
			return err
		}
		other, err := g.errors(ctx, i)
		if err != nil {
			return err
		}
		rep.Errors = max(rep.Errors, int(n), other)
	}
	slices.Sort(times)
	rep.Latency, rep.Copied = float64(times[len(times)/2]), g.Copied()
	return g.identity(ctx, rep)
}

// matrix returns the guest's matrix i, in place, and its pointer.
func (g *guest) matrix(ctx context.Context, i int) ([]byte, uint64, error) {
	p, err := g.ask(ctx, "pointer", uint64(i))
	if err != nil {
		return nil, 0, err
	}
	b, err := g.Memory().Range(uint64(uint32(p)), guestBytes)
	return b, uint64(uint32(p)), err
}

// errors counts the wrong elements of the product as the host sees it, by sums of whole numbers.
func (g *guest) errors(ctx context.Context, seed int) (n int, err error) {
	c, _, err := g.matrix(ctx, 2)
	if err != nil {
		return 0, err
	}
	value := func(matrix, i int) int { return (i*7+i/guestSide*3+matrix+seed)%5 - 2 }
	for row := range guestSide {
		for column := range guestSide {
			want := 0
			for k := range guestSide {
				want += value(0, row*guestSide+k) * value(1, k*guestSide+column)
			}
			i := 2 * (row*guestSide + column)
			if (fp16.Bits(c[i]) | fp16.Bits(c[i+1])<<8).Float32() != float32(want) {
				n++
			}
		}
	}
	return n, nil
}

// identity compares the guest's memory with what the engine has mapped, page by page.
func (g *guest) identity(ctx context.Context, rep *GuestReport) error {
	r := g.Bound(g.request)
	for i, name := range []string{"a", "b", "c"} {
		mem, p, err := g.matrix(ctx, i)
		if err != nil {
			return err
		}
		t := r.Output(name)
		if i < 2 {
			t = r.Input(name)
		}
		rep.Pointer, rep.Address = p, uint64(g.Memory().Address())+p
		rep.Tensor = uint64(t.Block().Address()) + uint64(t.Offset())
		engine := engineSide(ctx, r, t, i < 2)
		if engine == nil {
			rep.Unshared = -1
			return nil
		}
		for at := 0; at < len(mem); at += page {
			if !g.shares(t, engine, mem, at) {
				rep.Unshared += min(page, len(mem)-at)
			}
		}
	}
	return nil
}

// shares reports whether a byte of the guest's memory is the engine's, both ways. Of an engine that only reports what
// it has mapped, the tensor's memory is compared, and the guest's with that.
func (g *guest) shares(t *ane.Tensor, engine view, mem local, at int) bool {
	if _, ok := engine.(*reported); ok {
		own := local(t.Bytes())
		return sharesByte(mem, own, at) && sharesByte(own, mem, at) && sharesByte(own, engine, at)
	}
	return sharesByte(mem, engine, at) && sharesByte(engine, mem, at)
}

// growth measures the growth of memory by a tensor of 16 MiB that is bound and evaluated. The engine has run once with
// another tensor of that size, and all pages of the tensor exist. The runtime disturbs single measurements, so rounds
// repeat until one is as wanted; a copy shows in each.
func (g *guest) growth(ctx context.Context, wanted func(bytes int64) bool) (*int64, error) {
	pids := []int{}
	if pid, _ := g.Bound(g.request).PeerInput("a"); pid != 0 {
		pids = []int{os.Getpid(), pid}
	}
	bind := func(i uint64) error { _, err := g.ask(ctx, "bind_large", i); return err }
	fill := func(i uint64) error { _, err := g.ask(ctx, "fill_large", i, 3); return err }
	end := func() error { _, err := g.ask(ctx, "end_large"); return err }
	run := func() error { _, err := g.ask(ctx, "evaluate_large"); return err }
	for _, i := range []uint64{0, 1} { // surfaces are mapped before the guest writes to them
		for _, step := range []func() error{func() error { return bind(i) }, func() error { return fill(i) }} {
			if err := step(); err != nil {
				return nil, err
			}
		}
		if i == 0 {
			if err := run(); err != nil {
				return nil, err
			}
		}
		if err := end(); err != nil {
			return nil, err
		}
	}
	const most = 40
	var grown int64
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for range most {
		debug.FreeOSMemory()
		before, err := procmem.Proportional(pids...)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errUnread, err)
		}
		if err := errors.Join(bind(1), run()); err != nil {
			return nil, err
		}
		debug.FreeOSMemory()
		after, err := procmem.Proportional(pids...)
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errUnread, err)
		}
		grown = after - before
		if err := end(); err != nil {
			return nil, err
		}
		if wanted(grown) {
			break
		}
	}
	return &grown, nil
}

// crossing is the time of a call from the guest to the host and back, in nanoseconds, the least of several rounds.
func (g *guest) crossing(ctx context.Context) (float64, error) {
	least := [2]time.Duration{1 << 62, 1 << 62}
	for range rounds {
		for i, name := range []string{"cross", "count"} {
			start := time.Now()
			if _, err := g.ask(ctx, name, crossings); err != nil {
				return 0, err
			}
			least[i] = min(least[i], time.Since(start))
		}
	}
	return float64(least[0]-least[1]) / crossings, nil
}
