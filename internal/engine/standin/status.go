package standin

import "github.com/anekit/anekit/ane/driverabi"

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
