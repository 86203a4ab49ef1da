package probe

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/anekit/anekit/internal/measure"
	"github.com/anekit/anekit/unimem"
)

// machine is a virtual machine without a processor: its memory alone.
type machine struct {
	name string // of the hypervisor
	// mapped gives the machine size bytes at an address of this process, as guest memory at guest.
	mapped   func(address uintptr, guest uint64, size int) error
	unmapped func(guest uint64, size int) error
	close    func() error
}

// guestAt is the guest address of the mappings, above what small machines have.
const guestAt = 4 << 30

// machineRows lists what is measured, without values; published figures are of experiments/hyp_probe of unimem.
func machineRows(most int) []Row {
	const access = 10 // ns, with and without a mapping
	return []Row{
		{"create", 0, nil, "ns", nil, "a virtual machine without a processor"},
		{"smallest mapping", 0, nil, "bytes", known(16 << 10), ""},
		{"map", most, nil, "ns", nil, ""},
		{"access before", most, nil, "ns", known(access),
			"a random read of the host over all of it, after the one before it; the published one may be nearer"},
		{"access while mapped", most, nil, "ns", known(access), ""},
		{"guest addresses", 0, nil, "devices", nil, "GPU and Neural Engine see none, so a guest's memory reaches " +
			"them by its host address only (audit of unimem, not measured)"},
	}
}

// hypervisor measures what a mapping of a Block for a virtual machine changes for the host.
func (r *Result) hypervisor(ctx context.Context, most int) error {
	begin := time.Now()
	m, err := openMachine()
	if err != nil {
		return err
	}
	r.set("create", 0, float64(time.Since(begin)), nil)
	r.Measured = m.name
	return errors.Join(r.machine(ctx, m, most), m.close())
}

// machine measures with an open machine.
func (r *Result) machine(ctx context.Context, m *machine, size int) (err error) {
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
	before, err := chase(ctx, chain)
	if err != nil {
		return err
	}
	r.set("access before", size, before, nil)
	start := time.Now()
	err = m.mapped(b.Address(), guestAt, b.Size())
	r.set("map", size, float64(time.Since(start)), err)
	if err != nil {
		return nil
	}
	while, err := chase(ctx, chain)
	if err == nil {
		r.set("access while mapped", size, while, nil)
	}
	return errors.Join(err, m.unmapped(guestAt, b.Size()))
}

// smallest finds the smallest mapping: a size that is refused, and twice of it that is not.
func (r *Result) smallest(m *machine, b *unimem.Block) {
	row := r.find("smallest mapping", 0)
	for n := 1 << 10; n <= 64<<10; n *= 2 {
		if err := m.mapped(b.Address(), guestAt, n); err != nil {
			row.Note = fmt.Sprintf("%d are refused: %v", n, err)
			continue
		}
		r.set("smallest mapping", 0, float64(n), nil)
		if err := m.unmapped(guestAt, n); err != nil {
			row.Note = fmt.Sprintf("cannot be unmapped: %v", err)
		}
		return
	}
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
func chase(ctx context.Context, words []uint64) (float64, error) {
	const steps = 1 << 17
	at := uint64(0)
	best, err := measure.Best(ctx, passes, func() error {
		at = follow(words, at, steps)
		return nil
	})
	return float64(best) / steps, err
}

func follow(words []uint64, at uint64, steps int) uint64 {
	for range steps {
		at = words[at]
	}
	return at
}
