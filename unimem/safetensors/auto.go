package safetensors

import (
	"fmt"
	"math"
	"os"

	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/internal/wholefile"
)

// What Auto decides by. The table of ane-roundtrip bench weights shows these bounds to be right, or not, on a machine:
// docs/BENCHMARKS.md has one.
const (
	// tiny files are mapped: to ask the system takes longer than to map or to read them.
	tiny = 1 << 20
	// hot is the part of the files in the page cache from which on a map needs less time than a read.
	hot = 0.1
	// spare is the part of the available memory that a read may take.
	spare = 0.8
	// stalled is the part of the last ten seconds in which some task waited for memory, in percent (Linux).
	stalled = 10
	// warning is the level of memory pressure above normal (macOS).
	warning = 2
)

// surroundings is what the system says of a load.
type surroundings struct {
	size      int64  // of all files
	room      int64  // free bytes of the tape
	need      int64  // bytes that the spans need
	available uint64 // memory
	pressure  procmem.Pressure
	resident  float64 // part of the files in the page cache, -1 for unknown
}

// decide reports whether to map, and the reason. A map of what the page cache has needs no transfer. But the kernel
// takes its pages first when memory is short, and each pass over the weights reads them again; a read that fits stays.
func (s surroundings) decide() (maps bool, why string) {
	mib := func(n float64) string { return fmt.Sprintf("%.1f MiB", n/(1<<20)) }
	switch {
	case s.need > s.room:
		return true, fmt.Sprintf("Auto maps: the tape has %s free, the files need %s", mib(float64(s.room)),
			mib(float64(s.need)))
	case s.size < tiny:
		return true, "Auto maps: the files have less than 1 MiB"
	case float64(s.size) > spare*float64(s.available):
		return true, fmt.Sprintf("Auto maps: the files have %s, the system has %s available", mib(float64(s.size)),
			mib(float64(s.available)))
	case s.pressure.Stalled > stalled:
		return false, fmt.Sprintf("Auto reads: tasks waited for memory for %.0f%% of the last ten seconds",
			s.pressure.Stalled)
	case s.pressure.Level >= warning:
		return false, fmt.Sprintf("Auto reads: the system states memory pressure of level %d", s.pressure.Level)
	case s.resident < 0:
		return true, "Auto maps: what the page cache has is unknown"
	}
	part := fmt.Sprintf("%.0f%% of the files are in the page cache", 100*s.resident)
	if s.resident >= hot {
		return true, "Auto maps: " + part
	}
	return false, "Auto reads: " + part
}

// surroundings asks the system, unless the files are tiny.
func (l *loading) surroundings() surroundings {
	s := surroundings{room: math.MaxInt64, resident: -1}
	if l.tape != nil {
		s.room = int64(l.tape.Free())
	}
	for _, sh := range l.f.shards {
		if info, err := os.Stat(sh.path); err == nil { // else the load reports it
			s.size += info.Size()
			s.need += info.Size() + 2*block
		}
	}
	if s.size < tiny {
		return s
	}
	s.available, s.pressure = procmem.Available(), procmem.MemoryPressure()
	var cached, known int64
	for _, sh := range l.f.shards {
		file, err := wholefile.Open(sh.path)
		if err != nil {
			continue
		}
		if info, err := file.Stat(); err == nil {
			if n, ok := residentBytes(file, info.Size()); ok {
				cached += n
				known += info.Size()
			}
		}
		_ = file.Close() // it was only asked
	}
	if known > 0 {
		s.resident = float64(cached) / float64(known)
	}
	return s
}
