package wire

// closed is the error of a call after Close.
func closed(op string) error {
	return &Error{Op: op, Err: ErrClosed, Detail: "this end was closed"}
}

// errTimeout is one value, because who waits meets it often.
var errTimeout error = &Error{Op: "wait", Err: ErrTimeout}
