package weightbench

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/internal/step"
	"github.com/anekit/anekit/unimem/safetensors"
)

// Chosen is a row of the table by which safetensors.Auto decides: a file of a size, a part of it in the page cache, on
// a machine with or without a shortage of memory.
type Chosen struct {
	Bytes    int64                              `json:"bytes"`
	Resident float64                            `json:"resident"` // part of the file in the page cache at the start
	Pressure string                             `json:"pressure"` // of Pressures
	Times    map[safetensors.Mode]time.Duration `json:"times_ns"` // of a load and two passes; without what was killed
	Mapped   bool                               `json:"mapped"`   // by Auto
	Why      string                             `json:"why"`
	Regret   float64                            `json:"regret"` // time of the chosen way over that of the better one
}

// Pressures are the shortages of memory, in control groups.
const (
	None   = "none"
	Tight  = "room for 1.25 files"
	Beyond = "room for 0.75 of a file"
	Busy   = "room for 1.25 files, which another process reads"
)

// Cell is a place in the table.
type Cell struct {
	Size     int64
	Resident float64
	Pressure string
}

// Cells lists the table of some sizes. What is read by another process comes last: the system's pressure falls slowly.
func Cells(sizes []int64) (all []Cell) {
	for _, size := range sizes {
		for _, part := range []float64{0, .25, .5, 1} {
			all = append(all, Cell{size, part, None})
		}
	}
	for _, pressure := range []string{Tight, Beyond, Busy} {
		for _, part := range []float64{0, 1} {
			all = append(all, Cell{sizes[min(1, len(sizes)-1)], part, pressure})
		}
	}
	return all
}

// own is what a process takes beside a file.
const own = 16 << 20

// Choose measures a cell with files of its size in dir. The error matches errors.ErrUnsupported where the page cache
// cannot be told to drop a file, or where this process may make no control group.
func Choose(ctx context.Context, dir string, c Cell, rounds int) (r Chosen, err error) {
	r = Chosen{Bytes: c.Size, Resident: c.Resident, Pressure: c.Pressure, Times: map[safetensors.Mode]time.Duration{}}
	path, err := file(dir, "m", c.Size)
	if err != nil {
		return r, err
	}
	for range rounds {
		for _, mode := range safetensors.Modes() {
			p, err := r.measure(ctx, dir, path, mode)
			if errors.Is(err, errKilled) && c.Pressure != None {
				continue
			}
			if err != nil {
				return r, err
			}
			if best := r.Times[mode]; best == 0 || p.Took < best {
				r.Times[mode] = p.Took
			}
			if mode == safetensors.AutoMode {
				r.Mapped, r.Why = p.Access == safetensors.Mapped, p.Why
			}
		}
	}
	mapped, read := r.Times[safetensors.MapMode], r.Times[safetensors.ReadMode]
	chosen, other := read, mapped
	if r.Mapped {
		chosen, other = mapped, read
	}
	if r.Regret = 1; other > 0 && chosen > 0 {
		r.Regret = max(1, float64(chosen)/float64(other))
	}
	return r, nil
}

// file makes a file of a size, unless dir has it.
func file(dir, name string, size int64) (string, error) {
	path := filepath.Join(dir, fmt.Sprintf("%s-%d.safetensors", name, size))
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	return path, Make(path, size)
}

// measure measures one load.
func (r *Chosen) measure(ctx context.Context, dir, path string, mode safetensors.Mode) (p passed, err error) {
	err = step.Run(ctx, func(t *step.T) {
		step.NoError(drop(path))
		group := ""
		if r.Pressure != None {
			factor := 1.25
			if r.Pressure == Beyond {
				factor = 0.75
			}
			g := step.Must(procmem.NewGroup(int64(factor*float64(r.Bytes)) + own))
			t.Closing(g.Close)
			group = g.Path
		}
		if r.Resident > 0 {
			step.Must(run[int64](ctx, task{Kind: "warm", Path: path, Group: group, Part: r.Resident}))
		}
		if r.Pressure == Busy {
			other := step.Must(file(dir, "other", r.Bytes))
			step.NoError(drop(other))
			busy(t, task{Kind: "hog", Path: other, Group: group})
		}
		p = step.Must(run[passed](ctx, task{Kind: "pass", Path: path, Mode: mode, Group: group}))
	})
	return p, err
}

// busy starts a process that reads a file again and again, and waits until the system states a shortage of memory, for
// at most patience.
func busy(t *step.T, j task) {
	const patience, pause, enough = 3 * time.Second, 100 * time.Millisecond, 12
	cmd := step.Must(command(t.Ctx, j))
	step.Must(cmd.StdinPipe()) // it ends with this process
	step.NoError(cmd.Start())
	t.Closing(func() error {
		_ = cmd.Process.Kill() // it may have been killed for memory
		_ = cmd.Wait()         // the error is that of the signal
		return nil
	})
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(pause) {
		step.NoError(t.Ctx.Err())
		if procmem.MemoryPressure().Stalled > enough {
			return
		}
	}
}
