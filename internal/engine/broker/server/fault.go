package server

import (
	"fmt"

	"github.com/anekit/anekit/ane"
)

// Name is what errors of this package give as the engine.
const Name = "broker"

// exhausted is the answer to one more than a client may have.
func exhausted(op, name, what string, limit int, hint string) error {
	return &ane.Error{Op: op, Engine: Name, Name: name, Err: ane.ErrExhausted,
		Detail: fmt.Sprintf("limit of %d %s", limit, what), Hint: hint}
}

// unknown is the answer to a handle that the connection does not have.
func unknown(op, what string, handle uint32) error {
	return &ane.Error{Op: op, Engine: Name, Name: fmt.Sprintf("%s %d", what, handle), Err: ane.ErrForeign,
		Detail: "this connection has none of this number", Hint: "use the numbers that the broker answered with"}
}
