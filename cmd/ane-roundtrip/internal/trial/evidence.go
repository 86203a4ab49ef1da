package trial

import (
	"context"
	"errors"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/models"
	"github.com/anekit/anekit/unimem"
)

// Names of checks of Evidence that show together that no tensor is copied.
const (
	GrowthCheck    = "memory/growth"
	LateWriteCheck = "sharing/late-write"
)

// trafficCheck is the name of the check of what two processes exchange.
const trafficCheck = "sharing/traffic"

// evidence makes the checks of an engine as a whole.
type evidence struct {
	device *ane.Device
	models []models.Model // the first one is the identity
	read   Meter          // the memory of this process
	remote bool           // the engine runs in another process
}

// steps are the steps of Evidence.
func (e *evidence) steps() []Step {
	steps := []Step{
		{[]string{"memory/block"}, block},
		{[]string{"engine/receipt"}, e.receipt},
		{[]string{"sharing/mapping", "sharing/cpu-to-engine", "sharing/engine-to-cpu", "sharing/frames",
			LateWriteCheck, "engine/repeatable"}, e.sharing},
	}
	for _, c := range scenes() {
		steps = append(steps, Step{[]string{c.name}, e.play(c)})
	}
	if host.Mac { // only there surfaces have use counts
		steps = append(steps, Step{[]string{UsesCheck}, e.uses})
	}
	steps = append(steps, Step{[]string{"rules/offset", "rules/short"}, e.rules}, Step{[]string{GrowthCheck}, e.growth})
	if e.remote {
		steps = append(steps, Step{[]string{trafficCheck}, e.traffic})
	}
	return steps
}

// EvidenceChecks names the checks that Evidence makes of an engine; remote means that the engine runs
// in another process.
func EvidenceChecks(remote bool) (names []string) {
	for _, s := range (&evidence{remote: remote}).steps() {
		names = append(names, s.Names...)
	}
	return names
}

// Evidence makes the checks of an engine as a whole: that a Block has the size it reports, and that
// the engine reads and writes the caller's own pages. It skips a step if wanted selects none of the
// checks of the step. read measures the memory of this process, where the engine is in it; nil is OwnMemory.
func Evidence(ctx context.Context, d *ane.Device, wanted func(names ...string) bool, read Meter) (checks []Check,
	err error) {
	e := &evidence{device: d, read: read}
	if read == nil {
		e.read = OwnMemory
	}
	_, _, e.remote = d.Traffic()
	if e.models, err = models.All(); err != nil {
		return nil, err
	}
	for _, s := range e.steps() {
		if !wanted(s.Names...) {
			continue
		}
		made, err := s.Make(ctx)
		checks = append(checks, made...)
		if err != nil {
			return checks, err
		}
	}
	return checks, nil
}

// block opens a Block and checks its size and bytes.
func block(t *T) {
	const name, want = "memory/block", 16<<20 - 100
	b, err := unimem.Open(want)
	if err != nil {
		t.Add(Judge(name, false, 0, "bytes", "%v", err).Against(AtLeast(want)))
		return
	}
	t.Closing(b.Close)
	mem := b.Bytes()
	mem[0], mem[len(mem)-1] = 1, 2
	pinning := Pinning(b)
	pinned := Words(pinning)
	if pinning == notPinned {
		pinned += ": " + b.Unpinned().Error()
	}
	ok := b.Size() >= want && b.Size()%16384 == 0 && mem[0] == 1 && mem[len(mem)-1] == 2
	t.Add(Judge(name, ok, float64(b.Size()), "bytes", "%s, id %d, %s", b.Backing(), b.ID(), pinned).
		Against(AtLeast(want)))
}

// Whether touched pages of a Block stay in memory, in JSON.
const (
	pinned    = "pinned"
	notPinned = "not pinned"
	unknown   = "unknown"
)

// Pinning says whether touched pages of b stay in memory: "pinned", "not pinned" or "unknown".
func Pinning(b *unimem.Block) string {
	switch {
	case b.Pinned():
		return pinned
	case errors.Is(b.Unpinned(), unimem.ErrPinUnknown):
		return unknown
	}
	return notPinned
}

// Words returns a Pinning for a line of text.
func Words(pinning string) string {
	if pinning == unknown {
		return "not known to be pinned"
	}
	return pinning
}

// receipt checks that an engine called apple runs on Apple silicon, and not in software.
func (e *evidence) receipt(t *T) {
	r := e.device.Receipt()
	ok := r.Engine != "" && (r.Engine != "apple" || host.Apple && !strings.HasPrefix(r.Chip, "software"))
	t.Add(Judge("engine/receipt", ok, 0, "", "%s: %s, %s", r.Engine, r.Chip, r.Numerics))
}

// rules checks that Bind rejects two mistakes for which the hardware returns wrong data.
func (e *evidence) rules(t *T) {
	r := t.rig(e.device, e.models[0])
	l := r.Model.Inputs()[0]
	tape := Must(unimem.Start(64 + l.Bytes()))
	t.Closing(tape.Close)
	Must(tape.Take(64, 64))
	span := Must(tape.Take(l.Bytes(), 64))
	refused := func(l ane.Layout, want error) bool {
		q, err := r.Model.Bind(map[string]*ane.Tensor{l.Name: Must(ane.OnSpan(tape, span, l))}, r.Out)
		if err == nil {
			err = q.Close()
		}
		return errors.Is(err, want)
	}
	if e.device.Info().Offsets {
		t.Add(Skipped("rules/offset", "this engine supports offsets"))
	} else {
		t.Add(Judge("rules/offset", refused(l, ane.ErrOffset), 0, "",
			"Bind has to reject a tensor that starts 64 bytes into its surface"))
	}
	small := Must(ane.NewLayout(l.Name, l.DType, 1, 1, 1, 32))
	t.Add(Judge("rules/short", refused(small, ane.ErrShort), 0, "",
		"Bind has to reject a surface of %d bytes for a layout of %d", small.Bytes(), l.Bytes()))
}
