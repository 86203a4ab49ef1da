package wire

import (
	"math"
	"reflect"
	"strings"
	"sync"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/ane/mil"
	"github.com/anekit/anekit/internal/engine/driverabi"
	"github.com/anekit/anekit/internal/numerics"
)

// Limits of what payloads hold.
const (
	MaxName     = 1 << 10  // bytes of a name: tensor, tier, entitlement
	MaxPath     = 4 << 10  // bytes of a path: PATH_MAX of Linux
	MaxText     = 16 << 10 // bytes of a text for people: note, message, hint
	MaxTensors  = 256      // inputs or outputs of a program
	MaxWeights  = 4 << 10  // weight files of a program
	MaxSteps    = 1 << 10  // requests of a chain
	MaxNotes    = 1 << 10  // remarks of a compile
	MaxLines    = 4 << 10  // faults that a compile finds in one program
	MaxFaults   = 2 * MaxTensors
	MaxCauses   = 16  // sentinels that one error matches
	MaxCounters = 256 // counters of a Stats
	// MaxBytes bounds a size, offset or stride: ane.MaxBytes.
	MaxBytes = 1 << 40
)

// limits are the names in the tags "max" of the messages' fields: the greatest number, the most bytes of a text, or the
// most items of a list. After a comma comes the limit of each item. A field without a tag, as those of ane.Layout, goes
// by its own name.
var limits = map[string]uint64{
	"name": MaxName, "path": MaxPath, "text": MaxText, "tensors": MaxTensors, "weights": MaxWeights,
	"steps": MaxSteps, "notes": MaxNotes, "lines": MaxLines, "faults": MaxFaults, "causes": MaxCauses,
	"counters": MaxCounters, "bytes": MaxBytes, "descriptor": MaxDescriptors - 1,
	"depth": driverabi.QueueDepth, "mode": uint64(len(numerics.Modes()) - 1), "state": uint64(cancelStates - 1),
	"Name": MaxName, "DType": uint64(mil.UInt64), "Shape": ane.MaxRank,
}

// field is how a field of a message goes over the wire.
type field struct {
	name  string
	form  form
	limit uint64
	parts []field // of a struct; of a list, what an item is
}

// form is what a field is made of. All numbers are little endian.
type form uint8

const (
	formFlag form = iota // 0 or 1
	formU32
	formU64
	formI64    // two's complement
	formLength // an int that is not negative, at most MaxBytes
	formText   // length, and as many bytes
	formList   // count; the items follow as fields
	formStruct // its fields, and nothing itself
)

// tagBits is how many bits of a tag tell the type; the others are the number of the field.
const tagBits = 3

// forms are the type in a field's tag and the bytes of its number.
var forms = [...]struct {
	tag   uint8
	width int
	most  uint64
}{
	formFlag: {1, 1, 1}, formU32: {2, 4, math.MaxUint32}, formU64: {3, 8, math.MaxUint64},
	formI64: {4, 8, math.MaxUint64}, formLength: {3, 8, MaxBytes}, formText: {tag: 5, width: 4},
	formList: {tag: 6, width: 4}, formStruct: {},
}

var formOf = map[reflect.Kind]form{
	reflect.Bool: formFlag, reflect.Uint8: formU32, reflect.Uint32: formU32, reflect.Uint64: formU64,
	reflect.Int64: formI64, reflect.Int: formLength, reflect.String: formText, reflect.Slice: formList,
	reflect.Struct: formStruct,
}

// describe makes the field of a type, whose limits are named by its tag.
func describe(name, tag string, t reflect.Type) field {
	own, items, _ := strings.Cut(tag, ",")
	f := field{name: name, form: formOf[t.Kind()]}
	f.limit = forms[f.form].most
	if limit, ok := limits[own]; ok {
		f.limit = limit
	}
	switch f.form {
	case formList:
		f.parts = []field{describe(name, items, t.Elem())}
	case formStruct:
		for part := range t.Fields() {
			tag, ok := part.Tag.Lookup("max")
			if !ok {
				tag = part.Name
			}
			f.parts = append(f.parts, describe(part.Name, tag, part.Type))
		}
	}
	return f
}

// message is a payload in the table.
type message struct {
	kind  Kind
	field field
}

// coded holds the messages of all kinds. They are made when the first is coded, since most programs have no broker; a
// sync.OnceValue would be made before main, and link them into those too.
var coded struct {
	sync.Once
	messages map[reflect.Type]*message
}

func messages() map[reflect.Type]*message {
	coded.Do(func() { coded.messages = described() })
	return coded.messages
}

func described() map[reflect.Type]*message {
	all := map[reflect.Type]*message{}
	add := func(k Kind, p Payload) {
		t := reflect.TypeOf(p)
		if _, ok := all[t]; !ok && t != nil {
			all[t] = &message{k, describe(t.Name(), "", t)}
		}
	}
	for k, row := range kinds {
		add(Kind(k), row.request)
		add(Kind(k)|Reply, row.reply)
	}
	return all
}
