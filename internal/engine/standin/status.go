package standin

// status is a driver's result of an evaluation. The numbers are those observed
// from Apple's driver in the text of NSErrors of code 8, "status=0x..". 0 is
// success.
type status uint32

const (
	done       status = 0x00
	badIndex   status = 0x02 // the program does not have this procedure or number of surfaces
	failed     status = 0x0b // observed on hardware with unknown meaning; here: the software engine failed
	notFound   status = 0x0e // the driver's 14, which the framework reports as "program not found"
	mapRefused status = 0x12 // the surface cannot be mapped or does not exist
	tooShort   status = 0x1d // the surface is shorter than the program needs
)
