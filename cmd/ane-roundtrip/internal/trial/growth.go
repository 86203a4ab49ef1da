package trial

import (
	"bytes"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/access"
	"github.com/anekit/anekit/internal/host"
	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/unimem"
)

// Meter returns an amount of memory in bytes.
type Meter func() (int64, error)

// OwnMemory is the Meter of the memory of this process.
func OwnMemory() (int64, error) { return procmem.Proportional() }

// BlindMeter is a Meter that sees no copy.
func BlindMeter() (int64, error) { return 1 << 30, nil }

// errUnread marks the error of a system that does not report the memory of a process.
var errUnread = errors.New("memory cannot be measured")

// now reads the memory.
func (m Meter) now() int64 {
	n, err := m()
	if err != nil {
		NoError(fmt.Errorf("%w: %w", errUnread, err))
	}
	return n
}

// settled reads the memory after the runtime has returned what it does not use.
func (m Meter) settled() int64 {
	debug.FreeOSMemory()
	return m.now()
}

// Growing is how many bytes of memory use makes the Meter show more.
func (m Meter) Growing(use func()) int64 {
	before := m.settled()
	use()
	return m.now() - before
}

// Region is the size of the memory that is used in place to see whether memory grows, in bytes.
const Region = 16 << 20

// InPlace is the most growth without a copy of a Region, 0.05 MB. A Mac's footprint counts more than the pages of a
// Region: there it is half of a copy.
func InPlace() int64 {
	if host.Mac {
		return Region / 2
	}
	return 50_000
}

// Repeated measures the growth by a Region up to times, until it is from low to high. The runtime and drivers disturb
// single measurements, while a copy shows in each: after four that have one too many, the growth is a copy.
func Repeated(times int, low, high int64, measure func() int64) (grown int64) {
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	for copies := 0; times > 0 && copies < 4; times-- {
		if grown = measure(); low <= grown && grown <= high {
			break
		}
		if grown > high && grown >= Region/2 {
			copies++
		}
	}
	return grown
}

// growthHere binds and evaluates fresh tensors in several rounds, all pages of which exist before. A copy of an input
// or an output needs half of a round's memory again in each round, or in the first one if the engine uses it again.
// What else the process allocates does not show in each. So the least growth after a round counts. Then a control
// copies on purpose, once into a surface and once into the heap: a meter that does not show both has measured nothing.
// Nor is anything shown if memory grew when the engine loaded the program, where copies may go. The same holds if it
// grew in each round by less than a tensor: tensors may pass through such a buffer.
func (e *evidence) growthHere(t *T) {
	const name, times, controls = GrowthCheck, 3, 3
	unshown := func(format string, args ...any) { t.Add(Skipped(name, format, args...)) }
	start := e.read.settled() // before anything large is compiled
	m, _, _ := load(&t.T, e.device, Program("growth", func(f *mil.FuncBuilder) {
		x := f.Input("x", mil.FP16, 1, 32, 512, 512)
		one := f.Const("one", mil.FP16Scalar(1)) // the engine refuses programs that compute nothing
		f.Output(f.Op("mul", mil.TensorOf(mil.FP16, 1, 32, 512, 512), "y", mil.A("x", x), mil.A("y", one)))
	}))
	var in, out [times + 1]*ane.Tensor // the last ones for the control
	for i := range in {
		in[i] = t.surface(m.Inputs()[0].Bytes(), m.Inputs()[0], unimem.Warm())
		out[i] = t.surface(m.Outputs()[0].Bytes(), m.Outputs()[0], unimem.Warm())
		for k, halves := 0, Must(unimem.View[uint16](in[i].Bytes())); k < len(halves); k++ {
			halves[k] = 0x3c00 + uint16(byte(k+i)) // fp16 numbers from 1 to 1.25
		}
		clear(out[i].Bytes())
	}
	size := int64(len(in[0].Bytes()) + len(out[0].Bytes()))
	limit, noise := size/4, size/32
	before := e.read.settled()
	if loaded := before - start - size*(times+1); loaded >= limit {
		unshown("memory grew by %s when the program was loaded, which may hold copies of its tensors of %s", mebi(loaded),
			mebi(size))
		return
	}
	evaluate := func(i int) { Must(t.bind(m, in[i], out[i]).Evaluate(t.Ctx)) }
	var grown int64
	for i := range times {
		evaluate(i)
		if !bytes.Equal(in[i].Bytes(), out[i].Bytes()) {
			unshown("the engine did not compute the large tensors: the output of an identity differs from its input")
			return
		}
		if after := e.read.now() - before; i == 0 || after < grown {
			grown = after
		}
	}
	var seen int64
	shows := size / 4 * 3 // more than one of the two copies
	for try := 0; try < controls && seen < shows; try++ {
		var output []byte
		seen = e.read.Growing(func() {
			input := t.surface(len(in[times].Bytes()), in[times].Layout())
			copy(input.Bytes(), in[times].Bytes())
			evaluate(times)
			output = bytes.Clone(out[times].Bytes())
		})
		runtime.KeepAlive(output)
	}
	switch {
	case seen < shows:
		unshown("the measurement does not see copies: two made on purpose, %s, changed it by %s", mebi(size), mebi(seen))
	case grown >= noise && grown < limit:
		unshown("memory grew by %s while tensors of %s were bound and evaluated: less than a copy, and enough for a buffer "+
			"that parts of them pass through", mebi(grown), mebi(size))
	default:
		t.Add(Compare(name, float64(grown), "bytes", AtMost(float64(noise-1)),
			"memory of this process changed by %s while %s of tensors were bound and evaluated; copies of %s, made on "+
				"purpose, changed it by %s", mebi(grown), mebi(size*times), mebi(size), mebi(seen)))
	}
}

// maximum returns the program of the largest element of each channel of 512 KiB.
func maximum(channels int) ane.Source {
	return Program("growth", func(f *mil.FuncBuilder) {
		x := f.Input("x", mil.FP16, 1, channels, 512, 512)
		f.Output(f.Op("reduce_max", mil.TensorOf(mil.FP16, 1, channels, 1, 1), "y", mil.A("x", x),
			mil.A("axes", f.Const("axes", mil.Int32s(2, 3))), mil.A("keep_dims", f.Const("keep", mil.BoolScalar(true)))))
	})
}

// largeChannels makes an input of 256 MiB for maximum.
const largeChannels = 512

// rounds is the most rounds of a measurement that other clients of a shared broker can disturb. A copy
// shows in every round; memory and messages of other clients do not.
const rounds = 4

// growthRemote evaluates a program on an input of 256 MiB of which all pages exist. A copy of the input, in either
// process, needs the same amount of memory again. The limit of the growth is a thirtieth of the input: a copy takes
// all of it, while threads that the runtime starts on a busy machine take some MiB. The engine may keep what it made for
// the tensors of a round, so each has its own.
func (e *evidence) growthRemote(t *T) {
	probe := t.rig(e.device, identity())
	var grown, size, limit int64
	for round := 0; round == 0 || round < rounds && grown >= limit; round++ {
		t.Scope(func(t *T) {
			r := NewRig(&t.T, e.device, maximum(largeChannels))
			size = int64(r.bytes())
			limit = size / 30
			for _, tensor := range r.tensors {
				clear(tensor.Bytes())
			}
			NoError(r.Request.Close())
			again := Meter(probe.unshared).Growing(func() {
				r.Request = Must(r.Model.Bind(r.In, r.Out))
				Must(r.Request.Evaluate(t.Ctx))
			})
			if round == 0 || again < grown {
				grown = again
			}
		})
	}
	t.Add(Compare(GrowthCheck, float64(grown), "bytes", AtMost(float64(limit-1)),
		"memory of both processes changed by %s while %s of tensors were bound and evaluated", mebi(grown), mebi(size)))
}

// unshared returns the bytes of memory that a copy of tensors would increase. It counts all memory of this process, and
// what the engine's has mapped beside that memory and files on disk. So it counts copies that the engine makes, whether
// it maps them once or twice. r stays bound.
func (r *Rig) unshared() (sum int64, err error) {
	type file struct{ device, inode uint64 }
	own := map[file]bool{{}: false} // memory without a file is each process's own
	err = procmem.Mappings(0, func(m *procmem.Mapping) {
		if !m.OnDisk() {
			sum += m.Resident
			own[file{m.Device, m.Inode}] = m.Inode != 0
		}
	})
	pid, _ := access.Address(r.Request, access.Input, r.Model.Inputs()[0].Name)
	if err == nil && pid == 0 {
		err = errors.New("the system does not show the memory of the engine's process")
	}
	if err != nil {
		return 0, err
	}
	err = procmem.Mappings(pid, func(m *procmem.Mapping) {
		if !m.OnDisk() && !own[file{m.Device, m.Inode}] {
			sum += m.Proportional
		}
	})
	return sum, err
}

// maxMessages is the most bytes that an evaluation may send and receive.
const maxMessages = 256

// traffic counts the bytes that the processes exchange for an evaluation of a large tensor and of a
// small one. It takes the least of several rounds, since answers to earlier calls may arrive at the same time.
func (e *evidence) traffic(t *T) {
	large, small := NewRig(&t.T, e.device, maximum(largeChannels)), t.rig(e.device, identity())
	total := func() int64 {
		sent, received, _ := access.Traffic(e.device)
		return sent + received
	}
	var cost [2]int64
	ok := false
	for round := 0; round < rounds && !ok; round++ {
		for i, r := range []*Rig{large, small} {
			before := total()
			Must(r.Request.Evaluate(t.Ctx))
			if n := total() - before; round == 0 || n < cost[i] {
				cost[i] = n
			}
		}
		ok = cost[0] == cost[1] && cost[0] > 0 && cost[0] <= maxMessages
	}
	t.Add(Judge(trafficCheck, ok, float64(cost[0]), "bytes",
		"an evaluation sends and receives %d bytes for %s of tensors, %d bytes for %.1f KiB", cost[0],
		mebi(int64(large.bytes())), cost[1], float64(small.bytes())/(1<<10)).Against(Within(1, maxMessages)))
}

func mebi(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }
