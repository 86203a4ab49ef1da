package server

import (
	"fmt"

	"github.com/anekit/anekit/ane"
)

// mayStray refuses n bytes of a client's file that the broker is about to touch for the first time, where strays leave
// no room for them. It looks before they are charged, so several clients may pass at once.
func (a *account) mayStray(op, name string, n int64) error {
	return a.besideStrays(op, name, n, keptFromStrays)
}

// besideStrays refuses n bytes where the limit of the control group has no room for them, and as much garbage, beside
// strays and a part of the limit. What cannot become strays may use half of that part, so that clients which bind
// nothing new go on where others fill the group.
func (a *account) besideStrays(op, name string, n, part int64) error {
	b := a.of
	if b.strays == nil || n == 0 {
		return nil
	}
	held := b.held()
	left := b.strays.count(held, n)
	most := max(b.strays.limit-b.strays.limit*part/100-left, 0) / memoryShare
	if left < b.strays.limit*keptFromStrays/200 || n <= most-held {
		return nil
	}
	b.refused.Add(1)
	return &ane.Error{Op: op, Engine: Name, Name: name, Err: ane.ErrExhausted,
		Detail: fmt.Sprintf("%d %s beside %d of all, at most %d for all while the broker's control group has %d in "+
			"files that the broker does not use", n, b.what, held, most, left),
		Hint: "close Blocks that are not needed, or raise the limit of the group (MemoryMax=)"}
}
