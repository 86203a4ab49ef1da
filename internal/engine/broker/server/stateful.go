package server

import "github.com/anekit/anekit/ane"

// stateful reports whether a program keeps states from one run to the next. Such a program is never shared: each
// handle of each client has its own, since the states belong to it.
func stateful(x ane.Executable) bool {
	if b, ok := baseOf(x); ok {
		x = b.Executable
	}
	switch p := x.(type) {
	case guardedBase:
		x = p.Executable
	case *guardedProgram:
		x = p.Executable
	}
	own, ok := x.(interface{ Stateful() bool })
	return ok && own.Stateful()
}

// alone makes a program of states unknown to other compiles. It reports false if r is one that another compile made:
// the caller releases it and compiles its own.
func (r *residents) alone(p *resident, shared bool) bool {
	if !stateful(p.exec) {
		return true
	}
	r.forget(p)
	return !shared
}
