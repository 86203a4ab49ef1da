package sniff

import "encoding/binary"

// Both ONNX and Core ML write a message whose first field is a version. The second field of ONNX is the producer's name,
// a string; in Core ML it is the description, a message, or the model itself.
const (
	description = 2       // Core ML: a message; ONNX: the name of the producer
	firstModel  = 200     // Core ML: the first and the last field with a model
	lastModel   = 3000    //
	maxVersion  = 1 << 10 // of the format
)

// protobuf names a message of ONNX or Core ML; empty if it is neither.
func protobuf(start []byte, ext string) Kind {
	rest := start
	if len(rest) < 4 || rest[0] != 1<<3 {
		return ""
	}
	version, n := binary.Uvarint(rest[1:])
	if n <= 0 || version == 0 || version > maxVersion {
		return ""
	}
	rest = rest[1+n:]
	tag, n := binary.Uvarint(rest)
	if n <= 0 {
		return ""
	}
	rest = rest[n:]
	switch field, wire := tag>>3, tag&7; {
	case field >= firstModel && field <= lastModel && wire == 2:
		return Model
	case field == 10 && wire == 0 && ext != ".onnx": // whether the model can be trained on
		return Model
	case wire == 2 && field > description && field <= 8, wire == 0 && field == 5: // ONNX without a producer's name
		return ONNX
	case field != description || wire != 2:
		return ""
	}
	size, n := binary.Uvarint(rest)
	if n <= 0 {
		return ""
	}
	value := rest[n:]
	value = value[:min(uint64(len(value)), size)]
	switch {
	case ext == ".onnx" || ext == ".mlmodel": // both are possible
		if ext == ".onnx" {
			return ONNX
		}
		return Model
	case size > 0 && printable(value):
		return ONNX
	}
	return Model
}

// printable reports whether bytes are characters of a name.
func printable(b []byte) bool {
	for _, c := range b {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}
