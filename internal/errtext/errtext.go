// Package errtext has what the error types of several packages share: their fields, and one line of text that names the
// call, what is wrong and the fix.
package errtext

import "strings"

// Base is embedded in an error type, which adds what is its own and the method Error.
type Base struct {
	Op     string // the call: "open", "append", ...
	Err    error  // what went wrong: a sentinel of the package, or an error of what it called
	Detail string // what is wrong, with numbers; may be empty
	Cause  error  // what was called and failed, beside a sentinel; may be nil
	Hint   string // how to fix it; may be empty
}

// Line returns "call: Err: Detail: Cause; Hint" without what is nil or empty, and line breaks of the cause as "; ".
func (b *Base) Line(call string) string {
	parts := []string{call}
	if b.Err != nil {
		parts = append(parts, b.Err.Error())
	}
	if b.Detail != "" {
		parts = append(parts, b.Detail)
	}
	if b.Cause != nil {
		parts = append(parts, strings.ReplaceAll(b.Cause.Error(), "\n", "; "))
	}
	text := strings.Join(parts, ": ")
	if b.Hint != "" {
		text += "; " + b.Hint
	}
	return text
}

// Unwrap returns Err and Cause, without nil, for errors.Is and errors.As.
func (b *Base) Unwrap() (all []error) {
	for _, err := range []error{b.Err, b.Cause} {
		if err != nil {
			all = append(all, err)
		}
	}
	return all
}
