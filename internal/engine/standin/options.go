package standin

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/chip"
)

// Name is the engine's name on receipts.
const Name = "standin"

// EnvStrict is the environment variable that sets Options.StrictSurfaces, unless it is
// empty.
const EnvStrict = "ANEKIT_STANDIN_STRICT_SURFACES"

// EnvPool is the environment variable with the file of the slots that loaded programs take. On a Mac the slots are the
// machine's: processes that name one file are those of one machine. Without it, Start makes a pool for this process and
// the processes that it starts, and sets the variable for them. Tests that run in parallel then share no slots.
const EnvPool = "ANEKIT_STANDIN_POOL"

// EnvTempDir is the environment variable with the user's folder for temporary files, DARWIN_USER_TEMP_DIR of a Mac.
// With it the files of programs are where a Mac has them: in the folder that TMPDIR names, or else in the user's, which
// all processes share. Profiles of macOS 27 take them from the user's alone. Without it each process has a folder.
const EnvTempDir = "ANEKIT_STANDIN_TEMP_DIR"

// Options configure the framework. The zero value is a framework of the newest known
// generation with nothing missing.
type Options struct {
	// Dir is the folder of the libraries; empty means the folder of the bridge library.
	Dir string
	// Profile is the framework's generation: "15", "16.5", "17", "26", "27", "27-names" or "26-vm". "27-names" compiles
	// programs with several weight files that "27" refuses. "26-vm" is a virtual machine, which has no engine. Empty
	// means that of the dump, or "26" without a dump.
	Profile string
	// Missing removes classes ("Class") and methods ("Class selector").
	Missing []string
	// Changed changes encodings of methods: "Class selector encoding".
	Changed []string
	// Pool is the file of the machine's slots for loaded programs, which all processes that
	// name it share; see EnvPool. Empty means the value of EnvPool.
	Pool string
	// ProgramLimit is the bridge's own limit of loaded programs; 0 means 100.
	ProgramLimit int
	// Dump is a file of recorded answers of a real machine for the framework to replay,
	// in the form that ReadDump reads: FILE, or FILE#N. Empty means the value of
	// EnvDump.
	Dump string
	// Chip makes the compiler refuse what the chip's compiler refuses, with the framework's errors. The machine has
	// that chip's slots for loaded programs. 0 is a compiler that takes what the software engine does, and 126 slots.
	Chip chip.Chip
	// StrictSurfaces makes the driver refuse, with status 0x1d, surfaces below 48 KiB and surfaces of unequal size on
	// one side of a request. One project met that on an M4. No dump shows it, and five other projects run with less.
	// EnvStrict sets it too.
	StrictSurfaces bool
	// Reveal shows the engine's view of surfaces with the rules of macOS too (build tag
	// macrules), for tests of the stand-in's faults. Without those rules it is shown always.
	Reveal bool
}

// same reports whether a Start with p requests the framework that o started.
func (o Options) same(p Options) bool {
	return o.Dir == p.Dir && o.profile() == p.profile() &&
		slices.Equal(o.Missing, p.Missing) && slices.Equal(o.Changed, p.Changed) &&
		(o.Pool == p.Pool || p.Pool == "") && o.ProgramLimit == p.ProgramLimit &&
		o.Reveal == p.Reveal &&
		o.StrictSurfaces == p.StrictSurfaces && o.Chip == p.Chip && o.Dump == p.Dump
}

func (o Options) profile() string {
	if o.Profile == "" {
		return "26"
	}
	return o.Profile
}

// with returns the Options with those of a dump, which may be nil.
func (o Options) with(d *Dump) Options {
	if d == nil {
		return o
	}
	if o.Profile == "" {
		o.Profile = d.Profile
	}
	o.Missing = slices.Concat(o.Missing, d.missing)
	o.Changed = slices.Concat(o.Changed, d.changed)
	return o
}

// slots returns the machine's slots for loaded programs, 0 for the default.
func (o Options) slots() int32 { return int32(o.Chip.Spec().Slots.Value) }

// profiles are the generations that the stand-in supports.
var profiles = [...]string{"15", "16.5", "17", "26", "27", "27-names", "26-vm"}

// check rejects Options that no framework can have.
func (o Options) check() error {
	if !slices.Contains(profiles[:], o.profile()) {
		return &ane.Error{Op: "open", Engine: Name, Name: o.Profile, Err: ane.ErrName,
			Detail: "unknown profile", Hint: fmt.Sprintf("choose one of %q", profiles)}
	}
	for _, word := range slices.Concat(o.Missing, o.Changed) {
		if word == "" || strings.ContainsRune(word, 0) {
			return &ane.Error{Op: "open", Engine: Name, Name: strconv.Quote(word), Err: ane.ErrName,
				Detail: "names no class or method",
				Hint:   `write "Class", "Class selector" or, in Changed, "Class selector encoding"`}
		}
	}
	if n := o.ProgramLimit; int(int32(n)) != n || n < 0 {
		return &ane.Error{Op: "open", Engine: Name, Name: "ProgramLimit", Err: ane.ErrLength,
			Detail: fmt.Sprintf("%d programs", n), Hint: "use a count from 0 to 2147483647; 0 is the default"}
	}
	if strings.ContainsRune(o.Pool, 0) {
		return &ane.Error{Op: "open", Engine: Name, Name: strconv.Quote(o.Pool), Err: ane.ErrName,
			Detail: "names no file", Hint: "name a file for the pool of slots"}
	}
	return nil
}
