package driverabi

import "encoding/binary"

// Field32 is the offset of a field of 32 bits in a structure.
type Field32 int

// Get reads the field from the bytes of its structure.
func (at Field32) Get(b []byte) uint32 { return binary.LittleEndian.Uint32(b[at:]) }

// Put writes the field to the bytes of its structure.
func (at Field32) Put(b []byte, v uint32) { binary.LittleEndian.PutUint32(b[at:], v) }

// Field64 is the offset of a field of 64 bits in a structure.
type Field64 int

// Get reads the field from the bytes of its structure.
func (at Field64) Get(b []byte) uint64 { return binary.LittleEndian.Uint64(b[at:]) }

// Put writes the field to the bytes of its structure.
func (at Field64) Put(b []byte, v uint64) { binary.LittleEndian.PutUint64(b[at:], v) }

// Fields of a request to run a prepared program, selector 2 of both clients (table 27.6).
// Where the index of its doorbell lies is not documented. Numbers of undocumented width
// are read as 32 bits.
//
// The table names the pair at +0x10 in one order and describes it in the other. QoS 21 has priority 5 (docs/FACTS.md,
// Quality of service), which decides.
const (
	RequestToken    Field64 = 0x000 // program or instance token, minted by program-create
	RequestSequence Field32 = 0x008 // 0, then 1 on the next submit
	RequestPriority Field32 = 0x010 // 5 on an M1
	RequestQoS      Field32 = 0x014 // 21 on an M1
	RequestCategory Field32 = 0x01c // IOCategory
	// RequestSurfaces is where the surface identifier array starts: see Surfaces.
	RequestSurfaces = 0x020
)

// IOCategory is the io category of requests on an M1 (table 27.6); what others mean is not
// documented.
const IOCategory uint32 = 2

// Doorbells is the number of doorbells: an index lies below it, and 1<<index is the mask
// that rings one (listing 27.5 and text below it).
const Doorbells = 32

// Fields of the answer to a request (text below table 27.6). Sequence and result share
// +0x00, read as 32 bits each in that order.
const (
	ReplySequence Field32 = 0x00 // of the request
	ReplyResult   Field32 = 0x04 // its values are not documented
	ReplyToken    Field64 = 0x08 // of the request
	ReplyStatus   Field32 = 0x20 // a flag; its values and its width are not documented
)

// MaxSurfaces is how many surfaces the mapper takes in a request (docs/FACTS.md, Requests).
const MaxSurfaces = 128

// Surfaces are the bytes of the identifiers of a request's input, output and intermediate
// surfaces, where they lie.
//
// How wide an identifier is and how many there are is not documented. This package
// reads identifiers of 32 bits, one after the other from +0x020, up to the first 0 and
// to MaxSurfaces. Programs for older kernels are known to put identifiers elsewhere in
// requests of another size, so this is no layout to send to Apple's driver.
func Surfaces(request []byte) []byte {
	area, n := surfaceArea(request), 0
	for n < len(area) && binary.LittleEndian.Uint32(area[n:]) != 0 {
		n += 4
	}
	return area[:n:n]
}

// Identifiers are those in the bytes that Surfaces gives.
func Identifiers(surfaces []byte) []uint32 {
	ids := make([]uint32, len(surfaces)/4)
	for i := range ids {
		ids[i] = binary.LittleEndian.Uint32(surfaces[4*i:])
	}
	return ids
}

// PutSurfaces writes at most MaxSurfaces identifiers, none of them 0, where Surfaces finds
// them, and clears what is left of the MaxSurfaces places.
func PutSurfaces(request []byte, ids []uint32) {
	area := surfaceArea(request)
	for i, id := range ids {
		binary.LittleEndian.PutUint32(area[4*i:], id)
	}
	clear(area[4*len(ids):])
}

func surfaceArea(request []byte) []byte {
	return request[RequestSurfaces : RequestSurfaces+4*MaxSurfaces : RequestSurfaces+4*MaxSurfaces]
}
