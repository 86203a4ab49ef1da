package lint

import (
	"fmt"
	"strings"

	"github.com/anekit/anekit/ane/mil"
)

// old reports whether a program is written in the dialect of program(1.0), where every scalar is boxed.
func (r *run) old() bool { return strings.HasPrefix(r.prog.Version, "1.0") }

// scalar writes a typed literal in the dialect of the program.
func (r *run) scalar(d mil.DType, literal string) string {
	t := mil.ScalarOf(d)
	if r.old() {
		t = mil.TensorOf(d)
	}
	return t.String() + "(" + literal + ")"
}

// vector writes a typed vector; empty for an empty list.
func vector[T any](d mil.DType, list []T) string {
	if len(list) == 0 {
		return ""
	}
	return mil.TensorOf(d, len(list)).String() + "(" + strings.ReplaceAll(fmt.Sprint(list), " ", ", ") + ")"
}
