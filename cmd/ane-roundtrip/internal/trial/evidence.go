package trial

import (
	"bytes"
	"context"
	"errors"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/models"
	"github.com/anekit/anekit/unimem"
)

// step makes the checks called names.
type step struct {
	names []string
	run   func(context.Context, *ane.Device, []models.Model) ([]Check, error)
}

// Names of checks of Evidence that show together that no tensor is copied.
const (
	GrowthCheck    = "memory/growth"
	LateWriteCheck = "sharing/late-write"
)

// ofFirst makes a step of the first model.
func ofFirst(run func(context.Context, *ane.Device, models.Model) ([]Check, error)) func(context.Context, *ane.Device,
	[]models.Model) ([]Check, error) {
	return func(ctx context.Context, d *ane.Device, all []models.Model) ([]Check, error) {
		return run(ctx, d, all[0])
	}
}

// steps are the steps of Evidence.
func steps(read Meter) []step {
	return []step{
		{[]string{"memory/block"}, func(context.Context, *ane.Device, []models.Model) ([]Check, error) {
			return []Check{memory()}, nil
		}},
		{[]string{"engine/receipt"}, func(_ context.Context, d *ane.Device, _ []models.Model) ([]Check, error) {
			return []Check{receipt(d)}, nil
		}},
		{[]string{"sharing/mapping", "sharing/cpu-to-engine", "sharing/engine-to-cpu", "sharing/frames",
			LateWriteCheck, "engine/repeatable"}, ofFirst(sharing)},
		{[]string{lateReadCheck, turnsCheck, chainCheck}, turns},
		{usesChecks(), ofFirst(uses)},
		{[]string{"rules/offset", "rules/short"}, ofFirst(rules)},
		{[]string{GrowthCheck, trafficCheck}, ofFirst(func(ctx context.Context, d *ane.Device, m models.Model) ([]Check,
			error) {
			return growth(ctx, d, m, read)
		})},
	}
}

// EvidenceChecks names the checks that Evidence makes of an engine; remote means that the engine runs
// in another process.
func EvidenceChecks(remote bool) (names []string) {
	for _, s := range steps(nil) {
		for _, name := range s.names {
			if remote || name != trafficCheck {
				names = append(names, name)
			}
		}
	}
	return names
}

// Evidence makes the checks of an engine as a whole: that a Block has the size it reports, and that
// the engine reads and writes the caller's own pages. It skips a step if wanted selects none of the
// checks of the step. read measures the memory of this process, where the engine is in it; nil is OwnMemory.
func Evidence(ctx context.Context, d *ane.Device, wanted func(names ...string) bool, read Meter) ([]Check, error) {
	if read == nil {
		read = OwnMemory
	}
	all, err := models.All()
	if err != nil {
		return nil, err
	}
	var checks []Check
	for _, s := range steps(read) {
		if len(s.names) == 0 || !wanted(s.names...) {
			continue
		}
		got, err := s.run(ctx, d, all)
		if err != nil {
			return checks, err
		}
		checks = append(checks, got...)
	}
	return checks, nil
}

// memory opens a Block and checks its size and bytes.
func memory() Check {
	const want = 16<<20 - 100
	b, err := unimem.Open(want)
	if err != nil {
		return Judge("memory/block", false, 0, "bytes", "%v", err).Against(AtLeast(want))
	}
	defer b.Close()
	mem := b.Bytes()
	mem[0], mem[len(mem)-1] = 1, 2
	pinning := Pinning(b)
	pinned := Words(pinning)
	if pinning == notPinned {
		pinned += ": " + b.Unpinned().Error()
	}
	ok := b.Size() >= want && b.Size()%16384 == 0 && mem[0] == 1 && mem[len(mem)-1] == 2
	return Judge("memory/block", ok, float64(b.Size()), "bytes", "%s, id %d, %s", b.Backing(), b.ID(), pinned).
		Against(AtLeast(want))
}

// receipt checks that an engine called apple runs on Apple silicon, and not in software.
func receipt(d *ane.Device) Check {
	r := d.Receipt()
	ok := r.Engine != "" && (r.Engine != "apple" || host.Apple && !strings.HasPrefix(r.Chip, "software"))
	return Judge("engine/receipt", ok, 0, "", "%s: %s, %s", r.Engine, r.Chip, r.Numerics)
}

// sharing checks on the identity program that the CPU and the engine share memory.
func sharing(ctx context.Context, d *ane.Device, m models.Model) (checks []Check, err error) {
	r, err := modelRig(ctx, d, m)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, r.Close(context.WithoutCancel(ctx))) }()
	x, y := r.In["x"], r.Out["y"]
	xv, yv := engineSide(ctx, r.Request, x, true), engineSide(ctx, r.Request, y, false)
	if xv == nil || yv == nil || xv.size() < len(x.Bytes()) || yv.size() < len(y.Bytes()) {
		why := "the engine does not expose its mapping of the memory"
		for _, name := range []string{"mapping", "cpu-to-engine", "engine-to-cpu", "frames"} {
			checks = append(checks, Skipped("sharing/"+name, "%s", why))
		}
	} else {
		xs, ys := local(x.Bytes()), local(y.Bytes())
		checks = append(checks,
			ownMapping(d, x, xv),
			sharedByte("sharing/cpu-to-engine", xs, xv,
				"the engine has to see a byte that the CPU writes into an input"),
			sharedByte("sharing/engine-to-cpu", yv, ys,
				"the CPU has to see a byte written through the engine's mapping of an output"),
			frames(xs, xv, ys, yv))
	}
	late, err := r.lateWrite(ctx, m)
	if err != nil {
		return nil, err
	}
	same, err := r.repeat(ctx)
	return append(checks, late, same), err
}

// sharedByte writes a byte through one view and reads it through the other.
func sharedByte(name string, from, to view, detail string) Check {
	n := 0
	if sharesByte(from, to, 5) {
		n = 1
	}
	for _, v := range []view{from, to} {
		if _, ok := v.(*reported); ok {
			detail += "; the engine's process reports which memory it has mapped, and may not be read"
		}
	}
	return Judge(name, n == 1, float64(n), "bytes", "%s", detail).Against(AtLeast(1))
}

// ownMapping checks that the engine maps the surface at another address than the caller, so that a
// pointer of the caller would not reach it.
func ownMapping(d *ane.Device, t *ane.Tensor, engine view) Check {
	const name = "sharing/mapping"
	mapped, here := engine.(local)
	if !here || &t.Bytes()[0] != &mapped[0] {
		return Judge(name, true, 2, "mappings", "%s", d.Receipt().Sharing).Against(AtLeast(2))
	}
	if !host.Remap {
		return Skipped(name, "this system gives a surface only one address per process")
	}
	return Judge(name, false, 1, "mappings", "the engine uses the caller's addresses").Against(AtLeast(2))
}

// lateWrite changes an input after binding and evaluates, several times.
func (r *Rig) lateWrite(ctx context.Context, m models.Model) (Check, error) {
	const name, times = LateWriteCheck, 4
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
		"each evaluation has to read the inputs as they were changed after binding").Against(AtLeast(times)), nil
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
		"two evaluations of the same input have to give the same bits").Against(AtMost(0)), nil
}

// rules checks that Bind rejects two mistakes for which the hardware returns wrong data.
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
	shifted, err := ane.OnSpan(tape, span, l)
	if err != nil {
		return nil, err
	}
	q, err := r.Model.Bind(map[string]*ane.Tensor{l.Name: shifted}, r.Out)
	if err == nil {
		err = q.Close()
	}
	if d.Info().Offsets {
		checks = append(checks, Skipped("rules/offset", "this engine supports offsets"))
	} else {
		checks = append(checks, Judge("rules/offset", errors.Is(err, ane.ErrOffset), 0, "",
			"Bind has to reject a tensor that starts 64 bytes into its surface"))
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
		"Bind has to reject a surface of %d bytes for a layout of %d", small.Bytes(), l.Bytes())), nil
}
