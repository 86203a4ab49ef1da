package trial

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/models"
	"github.com/anekit/anekit/unimem"
)

// Meter returns an amount of memory in bytes.
type Meter func() (int64, error)

// OwnMemory is the Meter of the memory of this process.
func OwnMemory() (int64, error) { return procmem.Proportional() }

// BlindMeter is a Meter that sees no copy.
func BlindMeter() (int64, error) { return 1 << 30, nil }

// errUnread marks the error of a system that does not report the memory of a process.
var errUnread = errors.New("memory cannot be measured")

// largeIdentity returns a program whose input and output have 16 MiB each.
func largeIdentity() (ane.Source, error) {
	const channels, side = 32, 512
	b := mil.NewBuilder()
	f := b.Func("main")
	x := f.Input("x", mil.FP16, 1, channels, side, side)
	one := f.Const("one", mil.FP16Scalar(1)) // the engine refuses programs that compute nothing
	f.Output(f.Op("mul", mil.TensorOf(mil.FP16, 1, channels, side, side), "y", mil.A("x", x), mil.A("y", one)))
	p, err := b.Program()
	return ane.Source{File: "growth.mil", Program: p}, err
}

// growth judges whether memory grows by a tensor that is bound and evaluated.
func growth(ctx context.Context, d *ane.Device, small models.Model, read Meter) ([]Check, error) {
	if _, _, remote := d.Traffic(); remote {
		return growthRemote(ctx, d, small)
	}
	check, err := growthHere(ctx, d, read)
	return []Check{check}, err
}

// growthHere binds and evaluates fresh tensors in several rounds, all pages of which exist before. A copy of an input or
// an output, wherever the engine keeps it, needs half of a round's memory again in each round, or in the first one if
// the engine uses it again; what else the process allocates does not show in each. So the least growth after a
// round counts. Then a control copies on purpose, once into a surface and once into the heap: a meter that does not
// show both has measured nothing. Nor is anything shown by an engine whose memory grew when it loaded the program, which
// may be where copies go, or grew in each round by less than a tensor, which may be a buffer that tensors pass through.
func growthHere(ctx context.Context, d *ane.Device, read Meter) (check Check, err error) {
	const name, times, controls = GrowthCheck, 3, 3
	start, err := settled(read)
	if err != nil { // before anything large is compiled
		return Skipped(name, "%v: %v", errUnread, err), nil
	}
	l, err := newLarge(ctx, d, times+1)
	defer func() { err = errors.Join(err, l.close(context.WithoutCancel(ctx))) }()
	if err != nil {
		return Check{}, err
	}
	size := l.bytes()
	before, err := settled(read)
	if err != nil {
		return Check{}, err
	}
	limit, noise := size/4, size/32
	if loaded := before - start - size*(times+1); loaded >= limit {
		return Skipped(name, "memory grew by %s when the program was loaded, which may hold copies of its tensors of %s",
			mebi(loaded), mebi(size)), nil
	}
	var grown int64
	for i := range times {
		if fault, err := l.evaluate(ctx, i); fault != "" || err != nil {
			return Skipped(name, "%s", fault), err
		}
		after, err := read()
		if err != nil {
			return Check{}, err
		}
		if i == 0 || after-before < grown {
			grown = after - before
		}
	}
	var seen int64
	shows := size / 4 * 3 // more than one of the two copies
	for try := 0; try < controls && seen < shows; try++ {
		if seen, err = l.control(ctx, times, read); err != nil {
			return Check{}, err
		}
	}
	if seen < shows {
		return Skipped(name, "the measurement does not see copies: two made on purpose, %s, changed it by %s",
			mebi(size), mebi(seen)), nil
	}
	if grown >= noise && grown < limit {
		return Skipped(name, "memory grew by %s while tensors of %s were bound and evaluated: less than a copy, and enough for "+
			"a buffer that parts of them pass through", mebi(grown), mebi(size)), nil
	}
	return Judge(name, grown < limit, float64(grown), "bytes",
		"memory of this process changed by %s while %s of tensors were bound and evaluated; copies of %s, made on purpose, "+
			"changed it by %s", mebi(grown), mebi(size*times), mebi(size), mebi(seen)).Against(AtMost(float64(noise - 1))), nil
}

// settled reads the memory after the runtime has returned what it does not use.
func settled(read Meter) (int64, error) {
	debug.FreeOSMemory()
	return read()
}

// large is a program with pairs of large tensors.
type large struct {
	model    *ane.Model
	in, out  []*ane.Tensor
	requests []*ane.Request
	blocks   []*unimem.Block
}

// newLarge loads the program and makes n pairs, all pages of which exist. If it fails, the caller closes what it made.
func newLarge(ctx context.Context, d *ane.Device, n int) (*large, error) {
	l := new(large)
	src, err := largeIdentity()
	if err == nil {
		l.model, err = d.Compile(ctx, src)
	}
	if err == nil {
		err = l.model.Load(ctx)
	}
	for i := 0; i < n && err == nil; i++ {
		var x, y *ane.Tensor
		if x, err = l.tensor(l.model.Inputs()[0]); err == nil {
			y, err = l.tensor(l.model.Outputs()[0])
		}
		if err != nil {
			break
		}
		normal(x.Bytes(), byte(i))
		clear(y.Bytes())
		l.in, l.out = append(l.in, x), append(l.out, y)
	}
	return l, err
}

func (l *large) tensor(layout ane.Layout) (*ane.Tensor, error) {
	b, err := unimem.Open(layout.Bytes(), unimem.Warm())
	if err != nil {
		return nil, err
	}
	l.blocks = append(l.blocks, b)
	return ane.OnBlock(b, layout)
}

// normal fills b with fp16 numbers from 1 to 1.25.
func normal(b []byte, seed byte) {
	for i := range b {
		b[i] = byte(i/2) + seed
		if i%2 == 1 {
			b[i] = 0x3c
		}
	}
}

// bytes are those of a pair.
func (l *large) bytes() int64 { return int64(len(l.in[0].Bytes()) + len(l.out[0].Bytes())) }

// evaluate binds pair i and evaluates. fault is why that shows nothing.
func (l *large) evaluate(ctx context.Context, i int) (fault string, err error) {
	x, y := l.in[i], l.out[i]
	r, err := l.model.Bind(map[string]*ane.Tensor{x.Layout().Name: x}, map[string]*ane.Tensor{y.Layout().Name: y})
	if err != nil {
		return "", err
	}
	l.requests = append(l.requests, r)
	if _, err := l.model.Evaluate(ctx, r); err != nil {
		return "", err
	}
	if !bytes.Equal(x.Bytes(), y.Bytes()) {
		return "the engine did not compute the large tensors: the output of an identity differs from its input", nil
	}
	return "", nil
}

// control evaluates pair i as an engine that copies would, and returns how much the memory grew.
func (l *large) control(ctx context.Context, i int, read Meter) (grown int64, err error) {
	before, err := settled(read)
	if err != nil {
		return 0, err
	}
	input, err := unimem.Open(len(l.in[i].Bytes()))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, input.Close()) }()
	copy(input.Bytes(), l.in[i].Bytes())
	if _, err := l.evaluate(ctx, i); err != nil {
		return 0, err
	}
	output := bytes.Clone(l.out[i].Bytes())
	after, err := read()
	runtime.KeepAlive(output)
	return after - before, err
}

func (l *large) close(ctx context.Context) error {
	var errs []error
	for _, r := range l.requests {
		errs = append(errs, r.Close())
	}
	if l.model != nil {
		errs = append(errs, l.model.Close(ctx))
	}
	for _, b := range l.blocks {
		errs = append(errs, b.Close())
	}
	return errors.Join(errs...)
}

func mebi(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }

func kibi(n int64) string { return fmt.Sprintf("%.1f KiB", float64(n)/(1<<10)) }
