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

// step makes some checks.
type step struct {
	names []string
	run   func(context.Context, *ane.Device, models.Model) ([]Check, error)
}

// steps are those of Evidence.
func steps() []step {
	return []step{
		{[]string{"memory/block"}, func(context.Context, *ane.Device, models.Model) ([]Check,
			error) {
			return []Check{memory()}, nil
		}},
		{[]string{"engine/receipt"}, func(_ context.Context, d *ane.Device, _ models.Model) ([]Check, error) {
			return []Check{receipt(d)}, nil
		}},
		{[]string{"sharing/mapping", "sharing/cpu-to-engine", "sharing/engine-to-cpu", "sharing/frames",
			"sharing/late-write",
			"engine/repeatable"}, sharing},
		{[]string{"rules/offset", "rules/short"}, rules},
		{[]string{"memory/growth", trafficCheck}, growth},
	}
}

// EvidenceChecks names the checks that Evidence makes of an engine in this process, or
// apart in another.
func EvidenceChecks(apart bool) (names []string) {
	for _, s := range steps() {
		for _, name := range s.names {
			if apart || name != trafficCheck {
				names = append(names, name)
			}
		}
	}
	return names
}

// Evidence collects what holds for an engine as a whole: that memory is what
// it says, and that the engine reads and writes the caller's own pages. It leaves out
// steps none of whose checks wanted selects.
func Evidence(ctx context.Context, d *ane.Device, wanted func(names ...string) bool) ([]Check, error) {
	all, err := models.All()
	if err != nil {
		return nil, err
	}
	var checks []Check
	for _, s := range steps() {
		if !wanted(s.names...) {
			continue
		}
		got, err := s.run(ctx, d, all[0])
		if err != nil {
			return checks, err
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
		return Judge("memory/block", false, 0, "bytes", "%v", err).Against(AtLeast(want))
	}
	defer b.Close()
	mem := b.Bytes()
	mem[0], mem[len(mem)-1] = 1, 2
	pinned := "not pinned (memlock limit)"
	if b.Pinned() {
		pinned = "pinned"
	}
	ok := b.Size() >= want && b.Size()%16384 == 0 && mem[0] == 1 && mem[len(mem)-1] == 2
	return Judge("memory/block", ok, float64(b.Size()), "bytes", "%s, %s, id %d", b.Backing(), pinned, b.ID()).
		Against(AtLeast(want))
}

// receipt holds the engine to its name.
func receipt(d *ane.Device) Check {
	r := d.Receipt()
	apple := runtime.GOOS == "darwin" && runtime.GOARCH == "arm64"
	ok := r.Engine != "" && (r.Engine != "apple" || apple)
	return Judge("engine/receipt", ok, 0, "", "%s: %s, %s", r.Engine, r.Chip, r.Numerics)
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
		for _, name := range []string{"mapping", "cpu-to-engine", "engine-to-cpu", "frames"} {
			checks = append(checks, Skipped("sharing/"+name, "%s", why))
		}
	} else {
		xs, ys := own(x.Bytes()), own(y.Bytes())
		checks = append(checks,
			ownMapping(d, x, xv),
			shows("sharing/cpu-to-engine", xs, xv,
				"a byte that the CPU writes into an input has to show on the engine's side"),
			shows("sharing/engine-to-cpu", yv, ys,
				"a byte written on the engine's side of an output has to show on the CPU's"),
			frames(xs, xv, ys, yv))
	}
	late, err := r.late(ctx, m)
	if err != nil {
		return nil, err
	}
	same, err := r.repeat(ctx)
	return append(checks, late, same), err
}

// shows writes a byte on one side and looks for it on the other.
func shows(name string, from, to place, detail string) Check {
	n := 0
	if seen(from, to, 5) {
		n = 1
	}
	return Judge(name, n == 1, float64(n), "bytes", "%s", detail).Against(AtLeast(1))
}

// ownMapping tells whether the engine has an address of its own for the
// surface, so that handing over pointers would not be enough.
func ownMapping(d *ane.Device, t *ane.Tensor, there place) Check {
	const name = "sharing/mapping"
	view, here := there.(own)
	if !here || &t.Bytes()[0] != &view[0] {
		return Judge(name, true, 2, "mappings", "%s", d.Receipt().Sharing).Against(AtLeast(2))
	}
	if runtime.GOOS != "linux" {
		return Skipped(name, "inside one process this system gives a surface one address only")
	}
	return Judge(name, false, 1, "mappings", "the engine uses the caller's addresses").Against(AtLeast(2))
}

// late changes an input after binding and evaluates, several times.
func (r *Rig) late(ctx context.Context, m models.Model) (Check, error) {
	const name, times = "sharing/late-write", 4
	changed := 0
	for seed := range uint64(times) {
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
			return Judge(name, false, float64(changed), "changes", "%s", fault).Against(AtLeast(times)), nil
		}
		changed++
	}
	return Judge(name, true, float64(changed), "changes",
		"inputs changed after binding are what the next evaluation reads").Against(AtLeast(times)), nil
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
	differ := 0
	for i, b := range y.Bytes() {
		if b != first[i] {
			differ++
		}
	}
	return Judge("engine/repeatable", differ == 0, float64(differ), "bytes",
		"the same input has to give the same bits in both of 2 runs").Against(AtMost(0)), nil
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
		checks = append(checks, Skipped("rules/offset", "this engine honours offsets"))
	} else {
		checks = append(checks, Judge("rules/offset", errors.Is(err, ane.ErrOffset), 0, "",
			"a tensor that starts 64 bytes into its surface has to be refused"))
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
	return append(checks, Judge("rules/short", errors.Is(err, ane.ErrShort), 0, "",
		"a surface of %d bytes for a layout of %d has to be refused", small.Bytes(), l.Bytes())), nil
}
