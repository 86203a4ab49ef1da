package dma

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/anekit/anekit/internal/dart"
	"github.com/anekit/anekit/unimem"
)

// The addresses of a simulated device begin after the first 4 GiB, so that a truncated address is never valid.
const (
	addressStart = 4 << 30
	addressSize  = 64 << 30
)

// Addresses gives a simulated device size bytes of addresses, rounded down to whole pages; the default is 64 GiB. A
// test of ErrExhausted gives it few.
func Addresses(size uint64) Option { return func(c *config) { c.size = size / PageSize * PageSize } }

// Simulate makes a Device over a model of a DART in this process. The model has page tables of 16 KiB pages, a range of
// addresses for each Device, exhaustion, and faults at what is not mapped. It maps a Block at the lowest free addresses
// that hold it in one segment, or else in several at the largest free ones. Its times are not those of a Mac.
//
// Two Devices have a DART each: an address of one means nothing to the other.
func Simulate(opts ...Option) *Device {
	c := configure(opts)
	m := &model{
		table:    dart.NewTable(dart.Range{At: addressStart, Size: c.size}),
		longest:  c.longest,
		commands: map[Command]*dart.Mapping{},
		disks:    map[*Disk]bool{},
	}
	d := New(m, opts...)
	d.model = m
	return d
}

// model is the simulated driver.
type model struct {
	table   *dart.Table
	longest uint64

	mu       sync.Mutex
	last     Command
	commands map[Command]*dart.Mapping
	disks    map[*Disk]bool
	ended    bool
}

// add lists a disk, so that the Device closes it. It returns false if the Device is closing.
func (m *model) add(k *Disk) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.ended {
		m.disks[k] = true
	}
	return !m.ended
}

func (m *model) remove(k *Disk) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.disks, k)
}

// end closes all disks.
func (m *model) end() error {
	for {
		m.mu.Lock()
		m.ended = true
		var k *Disk
		for k = range m.disks {
			break
		}
		m.mu.Unlock()
		if k == nil {
			return nil
		}
		if err := k.Close(); err != nil {
			return err
		}
	}
}

// Prepare maps as many pages as MaxSegments segments hold.
func (m *model) Prepare(ctx context.Context, b *unimem.Block, offset int) (Command, []Segment, error) {
	if err := context.Cause(ctx); err != nil {
		return 0, nil, err
	}
	mem := b.Bytes()
	if offset < 0 || offset >= len(mem) {
		return 0, nil, fmt.Errorf("%w: byte %d of %d", ErrRange, offset, len(mem))
	}
	mapped, err := m.table.Map(mem[offset:], dart.Options{Access: dart.Read | dart.Write, Longest: m.longest,
		Most: MaxSegments})
	if errors.Is(err, dart.ErrFull) {
		return 0, nil, ErrExhausted
	}
	if err != nil {
		return 0, nil, err
	}
	segments := make([]Segment, len(mapped.Ranges()))
	for i, r := range mapped.Ranges() {
		segments[i] = Segment{r.At, r.Size}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.last++
	m.commands[m.last] = mapped
	return m.last, segments, nil
}

// Complete unmaps what a command has mapped.
func (m *model) Complete(ctx context.Context, c Command) error {
	m.mu.Lock()
	mapped := m.commands[c]
	m.mu.Unlock()
	if mapped == nil {
		return fmt.Errorf("%w: no command %d", ErrNotMapped, c)
	}
	if err := mapped.Unmap(ctx); err != nil {
		return err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.commands, c)
	return nil
}

// Close does nothing: the Device has completed all commands.
func (m *model) Close() error { return nil }
