package trial

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/unimem"
)

// sharing checks on the identity program that the CPU and the engine share memory, and that late writes reach the
// engine. It also checks that two evaluations give the same bits.
func (e *evidence) sharing(t *T) {
	r := t.rig(e.device, identity())
	x, y := r.In["x"], r.Out["y"]
	xv, yv := engineSide(r.Request, x, true), engineSide(r.Request, y, false)
	if xv == nil || yv == nil || xv.size < len(x.Bytes()) || yv.size < len(y.Bytes()) {
		for _, name := range []string{"mapping", "cpu-to-engine", "engine-to-cpu", "frames"} {
			t.Add(Skipped("sharing/"+name, unexposed))
		}
	} else {
		xs, ys := local(x.Bytes()), local(y.Bytes())
		t.Add(e.ownMapping(xs, xv),
			sharedByte("sharing/cpu-to-engine", xs, xv, "the engine has to see a byte that the CPU writes into an input"),
			sharedByte("sharing/engine-to-cpu", yv, ys,
				"the CPU has to see a byte written through the engine's mapping of an output"),
			frames([2]*view{xs, xv}, [2]*view{ys, yv}))
	}
	const times = 4
	changed, fault := 0, ""
	for ; changed < times; changed++ {
		if _, fault, _ = r.round(identity(), uint64(changed)); fault != "" {
			break
		}
	}
	t.Add(Compare(LateWriteCheck, float64(changed), "changes", AtLeast(times), "%s",
		cmp.Or(fault, "each evaluation has to read the inputs as they were changed after binding")))
	Must(r.Request.Evaluate(t.Ctx))
	first := slices.Clone(y.Bytes())
	Must(r.Request.Evaluate(t.Ctx))
	t.Add(Compare("engine/repeatable", float64(differences(first, y.Bytes())), "bytes", AtMost(0),
		"two evaluations of the same input have to give the same bits"))
}

// unexposed is why checks of an engine's mappings are skipped.
const unexposed = "the engine does not expose its mapping of the memory"

// sharedByte writes a byte through one view and reads it through the other.
func sharedByte(name string, from, to *view, detail string) Check {
	n := 0.
	if sharesByte(from, to, 5) {
		n = 1
	}
	if from.sealed || to.sealed {
		detail += "; the system shows which memory the engine's process has mapped, and not its bytes"
	}
	return Compare(name, n, "bytes", AtLeast(1), "%s", detail)
}

// ownMapping checks that the engine maps the surface at another address than the caller, so that a
// pointer of the caller would not reach it.
func (e *evidence) ownMapping(own, engine *view) Check {
	const name = "sharing/mapping"
	switch {
	case engine.here == nil || own.address != engine.address:
		return Compare(name, 2, "mappings", AtLeast(2), "%s", e.device.Receipt().Sharing)
	case !host.Remap:
		return Skipped(name, "this system gives a surface only one address per process")
	}
	return Compare(name, 1, "mappings", AtLeast(2), "the engine uses the caller's addresses")
}

// frames compares the page frames of pairs of views of the same tensor.
func frames(pairs ...[2]*view) Check {
	const name = "sharing/frames"
	same, differ := 0, 0
	for _, p := range pairs {
		for at := 0; at < min(p[0].size, p[1].size); at += os.Getpagesize() {
			sharesByte(p[0], p[1], at) // a page exists only after a write
			sharesByte(p[1], p[0], at)
			a, okA := p[0].frame(at)
			b, okB := p[1].frame(at)
			switch {
			case !okA || !okB:
				return Skipped(name, "Linux shows page frames only to root; the other sharing checks do not need them")
			case a == b:
				same++
			default:
				differ++
			}
		}
	}
	return Compare(name, float64(same), "frames", AtLeast(float64(max(same+differ, 1))),
		"%d page frames are the same on both sides, %d differ", same, differ)
}

// UsesCheck is the name of the check of use counts. Only macOS has them.
const UsesCheck = "sharing/uses"

// uses looks whether the system marks the caller's own surface as in use while the engine has it. A driver that does so
// works on that surface; one that does not shows nothing.
func (e *evidence) uses(t *T) {
	r := t.rig(e.device, identity())
	b := r.In["x"].Block()
	var stages [3]use
	stages[0].look(b)
	outcome := r.Request.EvaluateAsync(t.Ctx)
	for evaluated := false; !evaluated; {
		select {
		case o := <-outcome:
			NoError(o.Err)
			evaluated = true
		default:
		}
		stages[1].look(b)
	}
	NoError(r.Request.Close())
	stages[2].look(b)
	t.Add(used(stages))
}

// use is the most uses of a surface while it is bound, evaluated, or after its request was closed.
type use struct {
	count int // by this process
	used  bool
	mute  bool // the library has no use counts
}

func (u *use) look(b *unimem.Block) {
	count, used, known := b.Uses()
	u.count, u.used, u.mute = max(u.count, count), u.used || used, u.mute || !known
}

// used passes if the surface was in use at a stage before the last, and not at the last, after the engine has let it go.
func used(stages [3]use) Check {
	var all []string
	for i, u := range stages {
		words := map[bool]string{true: "in use", false: "not in use"}[u.used]
		stage := []string{"bound", "evaluating", "closed"}[i]
		all = append(all, fmt.Sprintf("%s: %s, %d by this process", stage, words, u.count))
	}
	bound, evaluating, closed, text := stages[0], stages[1], stages[2], strings.Join(all, "; ")
	switch {
	case bound.mute || evaluating.mute || closed.mute:
		return Skipped(UsesCheck, "surfaces have no use counts here")
	case closed.used:
		return Skipped(UsesCheck, "the surface is in use without the engine too, which shows nothing (%s)", text)
	case !bound.used && !evaluating.used:
		return Skipped(UsesCheck, "the engine marks no surface as in use, which shows nothing (%s)", text)
	}
	return Judge(UsesCheck, true, float64(max(bound.count, evaluating.count)), "uses", "%s", text)
}
