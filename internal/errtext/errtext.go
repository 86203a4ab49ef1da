// Package errtext has the text of the error types of several packages: one line that names the call, what is wrong and
// the fix.
package errtext

import "strings"

// Line returns "call: kind: detail: cause; hint" without what is nil or empty, and line breaks of the cause as "; ".
func Line(call string, kind error, detail string, cause error, hint string) string {
	parts := []string{call}
	if kind != nil {
		parts = append(parts, kind.Error())
	}
	if detail != "" {
		parts = append(parts, detail)
	}
	if cause != nil {
		parts = append(parts, strings.ReplaceAll(cause.Error(), "\n", "; "))
	}
	text := strings.Join(parts, ": ")
	if hint != "" {
		text += "; " + hint
	}
	return text
}

// Both lists kind and cause for Unwrap, without nil.
func Both(kind, cause error) (all []error) {
	for _, err := range []error{kind, cause} {
		if err != nil {
			all = append(all, err)
		}
	}
	return all
}
