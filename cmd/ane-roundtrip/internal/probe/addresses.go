package probe

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/internal/step"
	"github.com/anekit/anekit/unimem"
	"github.com/anekit/anekit/unimem/dma"
)

// Segment is a run of addresses that a device has for memory; of page frames with --equivalent.
type Segment struct {
	Of      string `json:"of"`    // the name of the row
	Bytes   int    `json:"bytes"` // of the row
	Address string `json:"address"`
	Length  uint64 `json:"length"`
}

// prepareSize is the size for which the specification of unimem asks what PrepareForDMA costs.
const prepareSize = 256 << 20

// limit bounds a question to the driver extension or to another process.
const limit = 30 * time.Second

// finder finds the segments of memory.
type finder struct {
	// own finds those of a Block, and how long PrepareForDMA took, 0 where it is not called.
	own func(context.Context, *unimem.Block) ([]dma.Segment, time.Duration, error)
	// other finds those that own finds in a process that has only looked the memory up.
	other func(context.Context, *unimem.Block) ([]dma.Segment, error)
	// buffer finds those of memory that the driver extension allocates.
	buffer func(ctx context.Context, size int) ([]dma.Segment, error)
}

// finders is the finder of this system: the driver extension, or for its equivalent the page frames.
func finders(equivalent bool) finder {
	if equivalent {
		return finder{frames, elsewhere, func(context.Context, int) ([]dma.Segment, error) {
			return nil, errors.New("only the driver extension allocates such a buffer")
		}}
	}
	return finder{mapped, elsewhere, allocated}
}

// addresses adds how many segments memory has, each of them, and what preparing it costs.
func (r *Result) addresses(t *step.T, f finder, most int, here bool) {
	counted := func(name string, size int, note string, find func(context.Context) ([]dma.Segment, error)) {
		r.add(t, here, figure{Row{name, size, nil, "segments", nil, note}, func() (float64, error) {
			ctx, cancel := context.WithTimeout(t.Ctx, limit)
			defer cancel()
			found, err := find(ctx)
			for _, s := range found {
				r.Segments = append(r.Segments, Segment{name, size, fmt.Sprintf("%#x", s.Address), s.Length})
			}
			return float64(len(found)), err
		}})
	}
	name, note := "device addresses", "by the driver extension of unimem/dma/dext"
	if r.Equivalent {
		name, note = "page frames", "contiguous runs, instead of device addresses"
	}
	sizes := []int{prepareSize, most}
	if most <= prepareSize {
		sizes = sizes[1:]
	}
	for _, size := range sizes {
		var b *unimem.Block
		if here {
			b = step.Must(unimem.Open(size, unimem.Warm()))
		}
		var prepared time.Duration
		counted(name, size, note, func(ctx context.Context) (s []dma.Segment, err error) {
			s, prepared, err = f.own(ctx, b)
			return s, err
		})
		if !r.Equivalent {
			row := Row{"PrepareForDMA", size, known(float64(prepared)), "ns", nil, ""}
			if here && prepared == 0 {
				row.Note = "the driver extension was not asked"
			}
			r.Rows = append(r.Rows, row)
		}
		if size == most {
			counted(name+", another process", size, "which has only looked the memory up",
				func(ctx context.Context) ([]dma.Segment, error) { return f.other(ctx, b) })
		}
		step.NoError(b.Close())
	}
	counted("buffer of the extension", most, "memory that the driver extension allocates",
		func(ctx context.Context) ([]dma.Segment, error) { return f.buffer(ctx, most) })
}

// mapped asks the driver extension for the device addresses of a Block.
func mapped(ctx context.Context, b *unimem.Block) ([]dma.Segment, time.Duration, error) {
	d, err := dma.Open(ctx)
	if err != nil {
		return nil, 0, err
	}
	s, err := d.Segments(b)
	prepared := d.PrepareTime()
	if err = errors.Join(err, d.Close()); err != nil {
		return nil, 0, err
	}
	return s, prepared, nil
}

// allocated asks the driver extension for memory of its own.
func allocated(ctx context.Context, size int) ([]dma.Segment, error) {
	a, err := dma.OpenAllocator(ctx)
	if err != nil {
		return nil, err
	}
	b, s, err := a.Allocate(ctx, size)
	if err == nil {
		err = b.Close()
	}
	return s, errors.Join(err, a.Close())
}

// frames finds the runs of page frames that follow each other.
func frames(_ context.Context, b *unimem.Block) (runs []dma.Segment, _ time.Duration, _ error) {
	page := uint64(os.Getpagesize())
	all, shown := procmem.Frames(0, uint64(b.Address()), b.Size()/int(page))
	if !shown {
		return nil, 0, errors.New("only Linux shows page frames, to processes with CAP_SYS_ADMIN")
	}
	for i, f := range all {
		if i == 0 || f != all[i-1]+1 {
			runs = append(runs, dma.Segment{Address: f * page})
		}
		runs[len(runs)-1].Length += page
	}
	return runs, 0, nil
}

// lookup has, in the child that elsewhere starts, the id and the bytes of the memory. Where memory has no id that another
// process can look up, the child has its descriptor.
const lookup = "ANEKIT_PROBE_LOOKUP"

// descriptor is that of the memory in the child, the first of exec.Cmd.ExtraFiles.
const descriptor = 3

// elsewhere has another process look up a Block's memory, and returns the segments found there.
func elsewhere(ctx context.Context, b *unimem.Block) (s []dma.Segment, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%d %d", lookup, b.ID(), b.Size()))
	var said, complaint bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &complaint
	if !host.Mac {
		f, err := b.Share()
		if err != nil {
			return nil, err
		}
		defer f.Close()
		cmd.ExtraFiles = []*os.File{f}
	}
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("%w: %s", err, bytes.TrimSpace(complaint.Bytes()))
	}
	return s, json.Unmarshal(said.Bytes(), &s)
}

// ServeLookup looks memory up, writes its segments and exits, in a process that a probe started. In every other process
// it returns at once. Programs that probe call it first in main or TestMain.
func ServeLookup() {
	asked := os.Getenv(lookup)
	if asked == "" {
		return
	}
	if err := lookUp(context.Background(), os.Stdout, asked); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// lookUp writes the segments of the memory with an id and a size, as JSON.
func lookUp(ctx context.Context, w io.Writer, asked string) error {
	var id uint32
	var size int
	if _, err := fmt.Sscan(asked, &id, &size); err != nil {
		return fmt.Errorf("%s=%q: %w", lookup, asked, err)
	}
	open, find := func() (*unimem.Block, error) { return unimem.AdoptSurface(id, size) }, mapped
	if !host.Mac {
		open, find = func() (*unimem.Block, error) {
			return unimem.Adopt(os.NewFile(descriptor, "memory"), size, unimem.Warm()) // which maps the pages that are there
		}, frames
	}
	b, err := open()
	if err != nil {
		return err
	}
	s, _, err := find(ctx, b)
	if err = errors.Join(err, b.Close()); err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(s)
}
