package kv

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Fingerprint says what computed the keys and values of a cache. The caller chooses the strings, such as a hash of
// the weight files; an empty string is a value like any other. Restore compares them, and the shape, the type and the
// positions of the tokens.
type Fingerprint struct {
	Model, Weights, Adapters, Tokenizer, Numerics string

	// Engine and OS are recorded. Restore compares them only if its own Fingerprint is Strict.
	Engine, OS string
	Strict     bool
}

// fields are the strings in the order of the file.
func (f *Fingerprint) fields() [7]struct {
	name   string
	value  *string
	strict bool
} {
	return [7]struct {
		name   string
		value  *string
		strict bool
	}{{"model", &f.Model, false}, {"weights", &f.Weights, false}, {"adapters", &f.Adapters, false},
		{"tokenizer", &f.Tokenizer, false}, {"numerics", &f.Numerics, false}, {"engine", &f.Engine, true},
		{"os", &f.OS, true}}
}

// check refuses what a header cannot hold.
func (f Fingerprint) check(op string) error {
	for _, v := range f.fields() {
		if !utf8.ValidString(*v.value) || len(*v.value) > maxField {
			return newError(op, ErrSize, fmt.Sprintf("%s of the fingerprint is %d bytes", v.name, len(*v.value)),
				fmt.Sprintf("each string is UTF-8 of at most %d bytes, such as a hash", maxField))
		}
	}
	return nil
}

// maxField is the longest string of a Fingerprint in bytes.
const maxField = 4096

// differences lists the fields in which a snapshot's fingerprint differs from the caller's.
func (f Fingerprint) differences(saved Fingerprint) string {
	var all []string
	theirs := saved.fields()
	for i, ours := range f.fields() {
		if (!ours.strict || f.Strict) && *ours.value != *theirs[i].value {
			all = append(all, fmt.Sprintf("%s is %q in the snapshot, %q here", ours.name, *theirs[i].value,
				*ours.value))
		}
	}
	return strings.Join(all, ", ")
}
