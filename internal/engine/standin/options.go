package standin

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/anekit/anekit/ane"
)

// Name is what the engine calls itself on receipts.
const Name = "standin"

// Options say how the framework behaves. The zero value is a framework of the
// newest known generation with nothing missing.
type Options struct {
	// Dir holds the libraries; empty means the folder of the bridge library.
	Dir string
	// Profile is the framework's generation: "15", "16.5", "17", "26" or "27";
	// empty means that of the dump, or else "26".
	Profile string
	// Missing takes classes ("Class") and methods ("Class selector") away.
	Missing []string
	// Changed gives methods another encoding: "Class selector encoding".
	Changed []string
	// CompileBudget is how often the framework compiles before it fails; 0 means
	// 119, the limit that has been measured on hardware.
	CompileBudget int
	// CompileLimit and ProgramLimit are the bridge's own limits, which it
	// refuses to pass; 0 means 110 and 100.
	CompileLimit, ProgramLimit int
	// Dump names a file of what a real machine has answered, for the framework to
	// answer too, as ReadDump reads it: FILE, or FILE#N. Empty means what EnvDump says.
	Dump string
	// Async has the engine evaluate through completion handlers.
	Async bool
}

// same reports whether two Starts ask for one and the same framework.
func (o Options) same(p Options) bool {
	return o.Dir == p.Dir && o.profile() == p.profile() &&
		slices.Equal(o.Missing, p.Missing) && slices.Equal(o.Changed, p.Changed) &&
		o.CompileBudget == p.CompileBudget && o.CompileLimit == p.CompileLimit &&
		o.ProgramLimit == p.ProgramLimit && o.Async == p.Async && o.Dump == p.Dump
}

func (o Options) profile() string {
	if o.Profile == "" {
		return "26"
	}
	return o.Profile
}

// with are the Options with what a dump, which may be nil, adds to them.
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

// profiles are the generations of the framework that the stand-in can be.
var profiles = [...]string{"15", "16.5", "17", "26", "27"}

// check finds what no framework could be started with.
func (o Options) check() error {
	if !slices.Contains(profiles[:], o.profile()) {
		return &ane.Error{Op: "open", Engine: Name, Name: o.Profile, Err: ane.ErrName,
			Detail: "no such profile", Hint: fmt.Sprintf("choose one of %q", profiles)}
	}
	for _, word := range slices.Concat(o.Missing, o.Changed) {
		if word == "" || strings.ContainsRune(word, 0) {
			return &ane.Error{Op: "open", Engine: Name, Name: strconv.Quote(word), Err: ane.ErrName,
				Detail: "names no class or method", Hint: `write "Class", "Class selector" or, in Changed, "Class selector encoding"`}
		}
	}
	for what, n := range map[string]int{"CompileBudget": o.CompileBudget, "CompileLimit": o.CompileLimit,
		"ProgramLimit": o.ProgramLimit} {
		if int(int32(n)) != n || n < 0 {
			return &ane.Error{Op: "open", Engine: Name, Name: what, Err: ane.ErrLength,
				Detail: fmt.Sprintf("%d compiles or programs",
					n), Hint: "give a count from 0 to 2147483647; 0 is the default"}
		}
	}
	return nil
}
