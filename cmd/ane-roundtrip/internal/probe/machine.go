package probe

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/anekit/anekit/unimem"
)

// Figures of experiments/hyp_probe of unimem.
const (
	publishedGranule = 16 << 10 // bytes, the smallest mapping
	publishedAccess  = 10       // ns, with and without a mapping
)

// machine is a virtual machine without a processor: its memory alone.
type machine interface {
	// mapped gives the machine size bytes at an address of this process, as guest memory at guest.
	mapped(address uintptr, guest uint64, size int) error
	unmapped(guest uint64, size int) error
	close() error
}

// guestAt is the guest address of the mappings, above what small machines have.
const guestAt = 4 << 30

// hypervisor measures what a mapping of a Block for a virtual machine changes for the host.
func (r *Result) hypervisor(ctx context.Context, o Options) error {
	switch {
	case mac:
		r.Measured = "Hypervisor.framework"
	case !o.Equivalent:
		r.machinePlan()
		return unavailable("only macOS has Hypervisor.framework",
			"run it on a Mac; --equivalent measures the hypervisor "+
				"of this system")
	default:
		r.Measured, r.Equivalent = equivalentMachine, true
	}
	begin := time.Now()
	m, err := openMachine()
	if err != nil {
		r.Measured = ""
		r.machinePlan()
		return err
	}
	took := time.Since(begin)
	err = r.machine(ctx, m, took, max(min(o.Most, 256<<20), 1<<20))
	return errors.Join(err, m.close())
}

// machinePlan adds the rows without values.
func (r *Result) machinePlan() {
	r.missing("create", 0, "ns", nil, "a virtual machine without a processor")
	r.missing("smallest mapping", 0, "bytes", known(publishedGranule), "")
	r.missing("map", 256<<20, "ns", nil, "")
	r.missing("access before", 256<<20, "ns", known(publishedAccess), dependent)
	r.missing("access while mapped", 256<<20, "ns", known(publishedAccess), "")
	r.missing("guest addresses", 0, "devices", nil, unseen)
}

// dependent describes the access.
const dependent = "a random read of the host over all of it, after the one before it; the published one may be nearer"

const unseen = "GPU and Neural Engine see none, so a guest's memory reaches them by its host address only (audit of " +
	"unimem, not measured)"

// machine measures with an open machine.
func (r *Result) machine(ctx context.Context, m machine, created time.Duration, size int) (err error) {
	r.row("create", 0, float64(created.Nanoseconds()), "ns", nil, "a virtual machine without a processor")
	b, err := unimem.Open(size, unimem.Warm())
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	r.smallest(m, b)
	chain, err := unimem.View[uint64](b.Bytes())
	if err != nil {
		return err
	}
	shuffle(chain)
	before := chase(chain)
	if err := ctx.Err(); err != nil {
		return err
	}
	start := time.Now()
	if err := m.mapped(b.Address(), guestAt, b.Size()); err != nil {
		r.missing("map", size, "ns", nil, err.Error())
		return nil
	}
	r.row("map", size, float64(time.Since(start).Nanoseconds()), "ns", nil, "")
	r.row("access before", size, before, "ns", known(publishedAccess), dependent)
	r.row("access while mapped", size, chase(chain), "ns", known(publishedAccess), "")
	r.missing("guest addresses", 0, "devices", nil, unseen)
	return m.unmapped(guestAt, b.Size())
}

// smallest finds the smallest mapping: a size that is refused, and twice of it that is not.
func (r *Result) smallest(m machine, b *unimem.Block) {
	var refused error
	for n := 1 << 10; n <= 64<<10 && n <= b.Size(); n *= 2 {
		if err := m.mapped(b.Address(), guestAt, n); err != nil {
			refused = err
			continue
		}
		note := ""
		if refused != nil {
			note = fmt.Sprintf("%d are refused: %v", n/2, refused)
		}
		if err := m.unmapped(guestAt, n); err != nil {
			note = fmt.Sprintf("cannot be unmapped: %v", err)
		}
		r.row("smallest mapping", 0, float64(n), "bytes", known(publishedGranule), note)
		return
	}
	r.missing("smallest mapping", 0, "bytes", known(publishedGranule), fmt.Sprint(refused))
}

// shuffle makes words a cycle through all cache lines in random order: each has the index of the next.
func shuffle(words []uint64) {
	const line = 8 // words of 64 bytes
	order := rand.New(rand.NewPCG(1, 2)).Perm(len(words) / line)
	for i, at := range order {
		words[at*line] = uint64(order[(i+1)%len(order)] * line)
	}
}

// chase is the time of a step through the cycle, in nanoseconds.
func chase(words []uint64) float64 {
	const steps = 1 << 17
	at := uint64(0)
	ns := least(passes, func() { at = follow(words, at, steps) })
	return ns / steps
}

//go:noinline
func follow(words []uint64, at uint64, steps int) uint64 {
	for range steps {
		at = words[at]
	}
	return at
}
