package standin

import (
	"errors"

	"github.com/anekit/anekit/ane/mil"
)

// faults returns a compiler's message: the faults of the program, one per line.
func faults(err error) string {
	var list mil.ErrorList
	if errors.As(err, &list) {
		return list.Error()
	}
	return err.Error()
}
