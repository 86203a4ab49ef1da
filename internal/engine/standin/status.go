package standin

// status is what a driver answers an evaluation with. The numbers are those
// that have been seen from Apple's driver in the text of NSErrors of code 8,
// "status=0x..". A zero status is success.
type status uint32

const (
	done       status = 0x00
	badIndex   status = 0x02 // a procedure, or a number of surfaces, that the program does not have
	failed     status = 0x0b // seen on hardware, its meaning unknown: here the software engine failed
	notFound   status = 0x0e // the driver's 14, which the framework reports as "program not found"
	mapRefused status = 0x12 // a surface that cannot be mapped, or is none
	tooShort   status = 0x1d // a surface shorter than the program needs
)
