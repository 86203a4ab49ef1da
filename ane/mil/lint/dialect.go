package lint

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/anekit/anekit/ane/mil"
)

// old reports whether a program is written in the dialect of program(1.0), where every scalar is boxed.
func (r *run) old() bool { return strings.HasPrefix(r.prog.Version, "1.0") }

// scalar writes a typed literal in the dialect of the program.
func (r *run) scalar(d mil.DType, literal string) string {
	if r.old() {
		return fmt.Sprintf("tensor<%v, []>(%s)", d, literal)
	}
	return fmt.Sprintf("%v(%s)", d, literal)
}

// vector writes a typed vector.
func vector[T any](d mil.DType, list []T) string {
	var items []string
	for _, x := range list {
		items = append(items, fmt.Sprint(x))
	}
	return fmt.Sprintf("tensor<%v, [%d]>([%s])", d, len(list), strings.Join(items, ", "))
}

// float writes a number exactly.
func (r *run) float(d mil.DType, f float64) string {
	return r.scalar(d, strconv.FormatFloat(f, 'g', -1, 64))
}
