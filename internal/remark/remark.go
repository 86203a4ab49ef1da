// Package remark lists the notes on a program: what several operators have in common is told once.
package remark

import (
	"fmt"

	"github.com/anekit/anekit/ane/mil"
)

// Max is the largest number of notes on one program.
const Max = 100

// Notes are remarks on a program that are not faults. Operators of a function with the same remark share one note, which
// has the place of the first and the number of the others.
type Notes struct {
	List []string
	told map[[2]string]*told // by function and remark
}

// told is a remark on several operators.
type told struct {
	first mil.Error
	kind  string // of the first operator
	at    int    // in List; past its end if it is left out
	more  int
}

// Add adds a remark on an operator: e has its place, and the remark as its Msg.
func (n *Notes) Add(function, kind string, e mil.Error) {
	key := [2]string{function, e.Msg}
	if t := n.told[key]; t != nil {
		t.more++
		if t.at < Max {
			n.List[t.at] = t.String()
		}
		return
	}
	if n.told == nil {
		n.told = map[[2]string]*told{}
	}
	t := &told{first: e, kind: kind, at: len(n.List)}
	n.told[key] = t
	n.AddText(t.String())
}

// AddText adds a note that stands for itself.
func (n *Notes) AddText(text string) {
	switch {
	case len(n.List) < Max:
		n.List = append(n.List, text)
	case len(n.List) == Max:
		n.List = append(n.List, "more notes are left out")
	}
}

func (t *told) String() string {
	e, others := t.first, ""
	switch {
	case t.more == 1:
		others = ", and 1 more operator"
	case t.more > 1:
		others = fmt.Sprintf(", and %d more operators", t.more)
	}
	e.Msg = t.kind + others + ": " + e.Msg
	return e.Error()
}
