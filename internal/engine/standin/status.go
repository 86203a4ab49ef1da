package standin

import (
	"errors"

	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/driverabi"
	"github.com/anekit/anekit/internal/engine/emulate"
)

// Why a text is refused: enum standin_compiled of standin.h.
const (
	invalidText int32 = iota + 1
	beyondLimit
	refused22
	compilerDied
)

// kindOf returns why the compiler has refused a text. What the software engine refuses is
// an invalid program.
func kindOf(err error) int32 {
	var ns *emulate.NSError
	switch {
	case errors.Is(err, emulate.ErrDied):
		return compilerDied
	case !errors.As(err, &ns) || ns.Cause == nil || ns.Invalid():
		return invalidText
	case ns.Cause.Code != ns.Code:
		return refused22
	}
	return beyondLimit
}

// status is a driver's result of an evaluation, as texts of NSErrors of code 8 have it in
// "status=0x..". 0 is success.
type status uint32

const (
	done       status = 0x00
	badIndex   status = driverabi.StatusBadIndex // the program does not have this procedure or number of surfaces
	failed     status = 0x0b                     // of unknown meaning on hardware; here: the software engine failed
	notFound   status = driverabi.StatusNotFound // the framework reports it as "program not found"
	mapRefused status = driverabi.StatusCancelled
	tooShort   status = driverabi.StatusBadGeometry // the surface is shorter than the program needs
)

// faults returns a compiler's message: the faults of the program, one per line.
func faults(err error) string {
	var list mil.ErrorList
	if errors.As(err, &list) {
		return list.Error()
	}
	return err.Error()
}
