package faulty

import (
	"context"
	"slices"
	"strings"

	"github.com/anekit/anekit/ane"
)

// Fault is one broken rule. The zero Fault breaks none.
type Fault struct {
	Name string // the argument of the command's --inject
	What string // the misbehaviour of the engine
	// SuiteOnly marks faults that leave the data of ordinary runs right. The
	// conformance suite detects them, a diagnostic of the data path does not.
	SuiteOnly bool

	info    func(*ane.Info)
	layout  func(*ane.Layout)
	errs    func(error) error // changes the errors of Compile and Evaluate
	prepare prepare
	run     run                     // in place of the honest evaluation
	damage  func(*invocation) error // after each evaluation
	keep    bool                    // unloads only when the engine closes
	based   bool                    // instances have the weights of their base
}

// prepare binds tensors to a program in a faulty way.
type prepare func(x *executable, in, out []*ane.Tensor) (*invocation, error)

// run is a faulty evaluation. v.Invocation is the honest one.
type run func(ctx context.Context, v *invocation) error

// Faults returns every fault, sorted by name.
func Faults() []Fault {
	all := slices.Concat(copies(), results(), placements(), statements(), lifetimes())
	slices.SortFunc(all, func(a, b Fault) int { return strings.Compare(a.Name, b.Name) })
	return all
}

// ByName returns the fault of a name.
func ByName(name string) (Fault, bool) {
	for _, f := range Faults() {
		if f.Name == name {
			return f, true
		}
	}
	return Fault{}, false
}
