package trial

import (
	"bytes"
	"context"
	"errors"
	"runtime"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/models"
	"github.com/anekit/anekit/unimem"
)

// Evidence collects what holds for an engine as a whole: that memory is what
// it says, and that the engine reads and writes the caller's own pages.
func Evidence(ctx context.Context, d *ane.Device) ([]Check, error) {
	checks := []Check{memory(), receipt(d)}
	all, err := models.All()
	if err != nil {
		return nil, err
	}
	for _, step := range []func(context.Context, *ane.Device, models.Model) ([]Check, error){sharing, rules, growth} {
		got, err := step(ctx, d, all[0])
		if err != nil {
			return nil, err
		}
		checks = append(checks, got...)
	}
	return checks, nil
}

// memory opens a Block and looks at it.
func memory() Check {
	const want = 16<<20 - 100
	b, err := unimem.Open(want)
	if err != nil {
		return Judge("memory/block", false, 0, "bytes", "%v", err)
	}
	defer b.Close()
	mem := b.Bytes()
	mem[0], mem[len(mem)-1] = 1, 2
	pinned := "not pinned (memlock limit)"
	if b.Pinned() {
		pinned = "pinned"
	}
	return Judge("memory/block", b.Size() >= want && b.Size()%16384 == 0 && mem[0] == 1 && mem[len(mem)-1] == 2, float64(b.Size()), "bytes",
		"%s, %s, id %d", b.Backing(), pinned, b.ID())
}

// receipt holds the engine to its name.
func receipt(d *ane.Device) Check {
	r := d.Receipt()
	apple := runtime.GOOS == "darwin" && runtime.GOARCH == "arm64"
	return Judge("engine/receipt", r.Engine != "" && (r.Engine != "apple" || apple), 0, "", "%s: %s, %s", r.Engine, r.Chip, r.Numerics)
}

// sharing shows on the identity program that both sides see one memory.
func sharing(ctx context.Context, d *ane.Device, m models.Model) (checks []Check, err error) {
	r, err := modelRig(ctx, d, m)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close(context.WithoutCancel(ctx))) }()
	x, y := r.In["x"], r.Out["y"]
	xv, yv := engineSide(r.Request, x, true), engineSide(r.Request, y, false)
	if xv == nil || yv == nil || xv.size() < len(x.Bytes()) || yv.size() < len(y.Bytes()) {
		why := "the engine cannot show its side of the memory"
		checks = append(checks, skip("sharing/mapping", "%s", why), skip("sharing/cpu-to-engine", "%s", why),
			skip("sharing/engine-to-cpu", "%s", why), skip("sharing/frames", "%s", why))
	} else {
		xs, ys := own(x.Bytes()), own(y.Bytes())
		checks = append(checks,
			ownMapping(d, x, xv),
			Judge("sharing/cpu-to-engine", seen(xs, xv, 5), 1, "byte", "a byte that the CPU writes into an input has to show on the engine's side"),
			Judge("sharing/engine-to-cpu", seen(yv, ys, 5), 1, "byte", "a byte written on the engine's side of an output has to show on the CPU's"),
			frames(xs, xv, ys, yv))
	}
	late, err := r.late(ctx, m)
	if err != nil {
		return nil, err
	}
	same, err := r.repeat(ctx)
	return append(checks, late, same), err
}

// ownMapping tells whether the engine has an address of its own for the
// surface, so that handing over pointers would not be enough.
func ownMapping(d *ane.Device, t *ane.Tensor, there place) Check {
	const name = "sharing/mapping"
	view, here := there.(own)
	if !here || &t.Bytes()[0] != &view[0] {
		return Judge(name, true, 2, "mappings", "%s", d.Receipt().Sharing)
	}
	if runtime.GOOS != "linux" {
		return skip(name, "inside one process this system gives a surface one address only")
	}
	return Judge(name, false, 1, "mappings", "the engine uses the caller's addresses")
}

// late changes an input after binding and evaluates twice.
func (r *Rig) late(ctx context.Context, m models.Model) (Check, error) {
	changed := 0
	for seed := range uint64(4) {
		in, err := r.Fill(m, seed)
		if err != nil {
			return Check{}, err
		}
		if _, err := r.Model.Evaluate(ctx, r.Request); err != nil {
			return Check{}, err
		}
		_, fault, err := r.Compare(m, in)
		if err != nil {
			return Check{}, err
		}
		if fault != "" {
			return Judge("sharing/late-write", false, float64(changed), "changes", "%s", fault), nil
		}
		changed++
	}
	return Judge("sharing/late-write", true, float64(changed), "changes", "inputs changed after binding are what the next evaluation reads"), nil
}

// repeat evaluates twice and compares bits.
func (r *Rig) repeat(ctx context.Context) (Check, error) {
	y := r.Out["y"]
	var first []byte
	for range 2 {
		if _, err := r.Model.Evaluate(ctx, r.Request); err != nil {
			return Check{}, err
		}
		if first == nil {
			first = bytes.Clone(y.Bytes())
		}
	}
	return Judge("engine/repeatable", bytes.Equal(first, y.Bytes()), 2, "runs", "the same input has to give the same bits"), nil
}

// rules shows that mistakes which the hardware answers with wrong data are
// refused by name.
func rules(ctx context.Context, d *ane.Device, m models.Model) (checks []Check, err error) {
	r, err := modelRig(ctx, d, m)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close(context.WithoutCancel(ctx))) }()
	l := r.Model.Inputs()[0]
	tape, err := unimem.Start(64 + l.Bytes())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, tape.Close()) }()
	if _, err := tape.Take(64, 64); err != nil {
		return nil, err
	}
	span, err := tape.Take(l.Bytes(), 64)
	if err != nil {
		return nil, err
	}
	askew, err := ane.OnSpan(tape, span, l)
	if err != nil {
		return nil, err
	}
	q, err := r.Model.Bind(map[string]*ane.Tensor{l.Name: askew}, r.Out)
	if err == nil {
		err = q.Close()
	}
	if d.Info().Offsets {
		checks = append(checks, skip("rules/offset", "this engine honours offsets"))
	} else {
		checks = append(checks, Judge("rules/offset", errors.Is(err, ane.ErrOffset), 64, "byte offset", "a tensor behind byte 0 of its surface has to be refused"))
	}
	small, err := ane.NewLayout(l.Name, l.DType, 1, 1, 1, 32)
	if err != nil {
		return nil, err
	}
	short, err := ane.OnSpan(tape, span, small)
	if err != nil {
		return nil, err
	}
	q, err = r.Model.Bind(map[string]*ane.Tensor{l.Name: short}, r.Out)
	if err == nil {
		err = q.Close()
	}
	return append(checks, Judge("rules/short", errors.Is(err, ane.ErrShort), float64(small.Bytes()), "bytes", "a surface shorter than the layout has to be refused")), nil
}
