package membench

import "testing"

// Case is one operation beside its floor.
type Case struct {
	Name      string // as in Benchmark<Name> and Benchmark<Name>Floor
	Operation string // its name in the table
	Target    string // the target on an idle machine
	// Published is the figure of the specification of unimem for Apple silicon, with its
	// figure for the mimalloc allocator in brackets; empty if there is none.
	Published string
	// Limits of the target: at most MaxRatio times the floor and MaxNs nanoseconds. Zero
	// means no limit.
	MaxRatio, MaxNs float64
	Bytes           int64 // bytes moved by one operation, 0 for an operation without throughput

	Run, Floor func(*testing.B)
}

// Cases returns all operations, in the order of the table.
func Cases() []Case {
	return []Case{
		{Name: "TapeTake", Published: "< 5 ns (100 ns)", Operation: "Tape take", Target: "<= 1.25x, < 5 ns",
			MaxRatio: 1.25, MaxNs: 5,
			Run: tapeTake, Floor: tapeTakeFloor},
		{Name: "TapeTakeOne", Published: "< 5 ns", Operation: "Tape take one", Target: "<= 1.25x, < 5 ns",
			MaxRatio: 1.25, MaxNs: 5,
			Run: tapeTakeOne, Floor: tapeTakeOneFloor},
		{Name: "TapeTakeParallel", Operation: "Tape take, all cores", Target: "none",
			Run: tapeTakeParallel, Floor: tapeTakeParallelFloor},
		{Name: "TapeClear", Published: "< 10 ns (5 ms)", Operation: "Tape clear 1 GB", Target: "< 10 ns", MaxNs: 10,
			Run: tapeClear, Floor: tapeClearFloor},
		{Name: "GridTakeGive", Published: "< 10 ns each", Operation: "Grid take and give", Target: "<= 1.3x",
			MaxRatio: 1.3,
			Run:      gridTakeGive, Floor: gridTakeGiveFloor},
		{Name: "GridTakeGiveParallel", Operation: "Grid take and give, all cores", Target: "none",
			Run: gridTakeGiveParallel, Floor: gridTakeGiveParallelFloor},
		{Name: "BlockOpen16MB", Operation: "Block open and close 16 MB", Target: "<= 1.25x, < 25 us", MaxRatio: 1.25,
			MaxNs: 25e3,
			Run:   blockOpen(16 << 20), Floor: blockOpenFloor(16 << 20)},
		{Name: "BlockOpen256MB", Published: "< 25 us", Operation: "Block open and close 256 MB",
			Target: "<= 1.25x, < 25 us", MaxRatio: 1.25, MaxNs: 25e3,
			Run: blockOpen(256 << 20), Floor: blockOpenFloor(256 << 20)},
		{Name: "BlockWrite1GB", Published: "> 23 GB/s (20 GB/s)", Operation: "sequential write 1 GB, u64",
			Target: "as a Go slice (<= 1.1x)", MaxRatio: 1.1, Bytes: gigabyte,
			Run: blockWrite, Floor: blockWriteFloor},
		{Name: "BlockFill1GB", Operation: "fill 1 GB", Target: "<= 1.05x", MaxRatio: 1.05, Bytes: gigabyte,
			Run: blockFill, Floor: blockFillFloor},
	}
}

const gigabyte = 1 << 30
