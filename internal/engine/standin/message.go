package standin

import (
	"errors"

	"github.com/anekit/anekit/ane/mil"
)

// faults is what a compiler says: the faults of the program, one a line.
func faults(err error) string {
	var list mil.ErrorList
	if errors.As(err, &list) {
		return list.Error()
	}
	return err.Error()
}
