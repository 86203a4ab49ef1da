package trial

import (
	"errors"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/unimem"
)

// Names of checks of Evidence that show together that no tensor is copied.
const (
	GrowthCheck    = "memory/growth"
	LateWriteCheck = "sharing/late-write"
)

const trafficCheck = "sharing/traffic" // of what two processes exchange

// evidence makes the checks of an engine as a whole.
type evidence struct {
	device *ane.Device
	read   Meter // the memory of this process
	remote bool  // the engine runs in another process
}

// Evidence are the checks of an engine as a whole: that a Block has the size it reports, and that the engine reads and
// writes the caller's own pages. read measures the memory of this process, where the engine is in it. remote means that
// the engine runs in another process. Without a device the steps have only names.
func Evidence(d *ane.Device, remote bool, read Meter) []Step {
	e := &evidence{d, read, remote}
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
	steps = append(steps, Step{[]string{"rules/offset", "rules/short"}, e.rules})
	if !e.remote {
		return append(steps, Step{[]string{GrowthCheck}, e.growthHere})
	}
	return append(steps, Step{[]string{GrowthCheck}, e.growthRemote}, Step{[]string{trafficCheck}, e.traffic})
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

// What Pinning says.
const (
	pinned    = "pinned"
	notPinned = "not pinned"
	unknown   = "unknown"
)

// Pinning says in JSON whether touched pages of b stay in memory: "pinned", "not pinned" or "unknown".
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
	r := t.rig(e.device, identity())
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
