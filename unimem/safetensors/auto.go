package safetensors

import (
	"fmt"

	"github.com/anekit/anekit/internal/wholefile"
)

// What Auto decides by.
const (
	// tiny files are read at once: a map costs faults and address space instead.
	tiny = 1 << 20
	// hot is the part of the files in the page cache from which on a map needs no transfer.
	hot = 0.5
	// spare is the part of the available memory that a load may take.
	spare = 0.8
	// pressed is the part of the last ten seconds in which some task waited for memory, in percent.
	pressed = 10
)

// surroundings is what the system says of a load.
type surroundings struct {
	size      int64   // of all files
	room      int64   // free bytes of the tape
	need      int64   // bytes that the spans need
	available int64   // memory, -1 for unknown
	pressure  float64 // in percent, -1 for unknown
	resident  float64 // part of the files in the page cache, -1 for unknown
}

// decide reports whether to map, and the reason.
func (s surroundings) decide() (maps bool, why string) {
	mib := func(n int64) string { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }
	switch {
	case s.need > s.room:
		return true, fmt.Sprintf("Auto maps: the tape has %s free, the files need %s", mib(s.room), mib(s.need))
	case s.size < tiny:
		return false, "Auto reads: the files have less than 1 MiB"
	case s.available >= 0 && float64(s.size) > spare*float64(s.available):
		return true, fmt.Sprintf("Auto maps: the files have %s, the system has %s available", mib(s.size),
			mib(s.available))
	case s.pressure > pressed:
		return true, fmt.Sprintf("Auto maps: tasks waited for memory for %.0f%% of the last ten seconds", s.pressure)
	case s.resident >= hot:
		return true, fmt.Sprintf("Auto maps: %.0f%% of the files are in the page cache", 100*s.resident)
	case s.resident < 0:
		return false, "Auto reads: what the page cache has is unknown"
	}
	return false, fmt.Sprintf("Auto reads: %.0f%% of the files are in the page cache", 100*s.resident)
}

// surroundings asks the system.
func (l *loading) surroundings() surroundings {
	s := surroundings{room: int64(l.tape.Free()), resident: -1}
	var cached, known int64
	for _, sh := range l.f.shards {
		file, err := wholefile.Open(sh.path)
		if err != nil {
			continue // reading reports it
		}
		if info, err := file.Stat(); err == nil {
			s.size += info.Size()
			s.need += info.Size() + 2*block
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
	s.available, s.pressure = memory()
	return s
}
