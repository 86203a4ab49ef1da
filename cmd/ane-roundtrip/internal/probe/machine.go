package probe

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/anekit/anekit/internal/measure"
	"github.com/anekit/anekit/internal/step"
	"github.com/anekit/anekit/unimem"
)

// machine is a virtual machine without a processor: its memory alone.
type machine struct {
	name string // of the hypervisor
	// mapped gives the machine size bytes at an address of this process, as guest memory at guestAt.
	mapped   func(address uintptr, size int) error
	unmapped func(size int) error
	close    func() error
}

// guestAt is the guest address of the mappings, above what small machines have.
const guestAt = 4 << 30

// hypervisor measures what a mapping of a Block for a virtual machine changes for the host.
func (r *Result) hypervisor(t *step.T, most int, here bool) {
	create := Row{"create", 0, nil, "ns", nil, "a virtual machine without a processor"}
	var m *machine
	var err error
	if begin := time.Now(); here {
		if m, err = openMachine(); err == nil {
			create.Value, r.Measured = known(float64(time.Since(begin))), m.name
			t.Closing(m.close)
		}
	}
	r.Rows = append(r.Rows, create)
	r.machine(t, m, most)
	step.NoError(err)
}

// machine measures with an open machine, nil for none. Published figures are of experiments/hyp_probe of unimem.
func (r *Result) machine(t *step.T, m *machine, size int) {
	var b *unimem.Block
	var chain []uint64
	if m != nil {
		b = step.Must(unimem.Open(size, unimem.Warm()))
		t.Closing(b.Close)
		chain = step.Must(unimem.View[uint64](b.Bytes()))
		shuffle(chain)
	}
	while := func(measure func() (float64, error)) (float64, error) {
		if err := m.mapped(b.Address(), b.Size()); err != nil {
			return 0, err
		}
		value, err := measure()
		return value, errors.Join(err, m.unmapped(b.Size()))
	}
	access := func() (float64, error) { return chase(t.Ctx, chain) }
	published := known(10) // ns of an access, with and without a mapping
	r.add(t, m != nil,
		figure{Row{"smallest mapping", 0, nil, "bytes", known(16 << 10), ""},
			func() (float64, error) { return smallest(m, b) }},
		figure{Row{"map", size, nil, "ns", nil, ""}, func() (float64, error) {
			start := time.Now()
			return while(func() (float64, error) { return float64(time.Since(start)), nil })
		}},
		figure{Row{"access before", size, nil, "ns", published,
			"a random read of the host over all of it, after the one before it; the published one may be nearer"}, access},
		figure{Row{"access while mapped", size, nil, "ns", published, ""},
			func() (float64, error) { return while(access) }},
		figure{Row{"guest addresses", 0, nil, "devices", nil, "GPU and Neural Engine see none, so a guest's memory " +
			"reaches them by its host address only (audit of unimem, not measured)"}, nil})
}

// smallest finds the smallest mapping: a size that is refused, and twice of it that is not.
func smallest(m *machine, b *unimem.Block) (bytes float64, remark error) {
	for n := 1 << 10; n <= 64<<10; n *= 2 {
		if err := m.mapped(b.Address(), n); err != nil {
			remark = fmt.Errorf("%d are refused: %w", n, err)
			continue
		}
		if err := m.unmapped(n); err != nil {
			remark = fmt.Errorf("cannot be unmapped: %w", err)
		}
		return float64(n), remark
	}
	return 0, remark
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
