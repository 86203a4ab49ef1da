package objcbridge

import (
	"strings"
	"unsafe"
)

// list calls fill with a growing slice until all elements fit. fill returns their number. first is the length of the
// first slice, and no list needs more than most.
func list[T any](stage Stage, first, most int, fill func(room []T) (count int, err error)) ([]T, error) {
	for n := first; n >= 0 && n <= most; {
		room := make([]T, n)
		count, err := fill(room)
		if 0 <= count && count <= n {
			return room[:count], err
		}
		n = count
	}
	return nil, &Error{Stage: stage, Kind: kindContradiction, Message: "the bridge reports an impossible length"}
}

// selfCheck compares every method that the bridge sends with the framework. It returns the rows
// even with an error, which is of KindMissing if a required row fails.
func (b *Bridge) selfCheck() (checks []Check, err error) {
	_, err = list(stageCheck, 64, 1<<16, func(rows []cCheck) (int, error) {
		var count int32
		err := do(b, stageCheck, func(record *cError) int32 {
			k := call(b.lib.selfCheck, b.handle, uintptr(unsafe.Pointer(unsafe.SliceData(rows))), uintptr(len(rows)),
				uintptr(unsafe.Pointer(&count)), uintptr(unsafe.Pointer(record)))
			checks = nil
			for i := range min(int(count), len(rows)) { // the texts are valid as long as the bridge is open
				c := &rows[i]
				checks = append(checks, Check{
					Class: goString(c.class), Selector: goString(c.selector), ClassMethod: c.classMethod != 0,
					Expected: goString(c.expected), Found: goString(c.found), NeededFor: goString(c.neededFor),
					Required: c.required != 0, Status: CheckStatus(c.status),
				})
			}
			return k
		})
		return int(count), err
	})
	return checks, err
}

// Device returns the framework's facts about the machine. The error is an *Error of the stage device.
func (b *Bridge) Device() (Device, error) {
	var c cDevice
	err := do(b, stageDevice, func(record *cError) int32 {
		return call(b.lib.deviceInfo, b.handle, uintptr(unsafe.Pointer(&c)), uintptr(unsafe.Pointer(record)))
	})
	if err != nil {
		return Device{}, err
	}
	return Device{
		HasANE: Answer(c.hasANE), VirtualMachine: Answer(c.virtualMachine), InternalBuild: Answer(c.internalBuild),
		Engines: int(c.engines), Cores: int(c.cores), Board: c.board,
		Architecture: text(c.architecture[:]), Subtype: text(c.subtype[:]), Variant: text(c.variant[:]),
		Product: text(c.product[:]), Build: text(c.build[:]),
	}, nil
}

// Folders returns where the framework puts the files of programs. The error is an *Error of the stage check.
func (b *Bridge) Folders() (Folders, error) {
	var c cFolders
	err := do(b, stageCheck, func(record *cError) int32 {
		return call(b.lib.foldersNow, b.handle, uintptr(unsafe.Pointer(&c)), uintptr(unsafe.Pointer(record)))
	})
	if err != nil {
		return Folders{}, err
	}
	return Folders{Process: text(c.process[:]), User: text(c.user[:]), Foreign: c.foreign != 0,
		Verifies: c.verifies != 0}, nil
}

// registry returns the properties of the engine in the IORegistry, in its order. The error is an *Error of the stage
// device.
func (b *Bridge) registry() ([]Property, error) {
	const zeroByte = 1
	characters, err := list(stageDevice, 64, 1<<16, func(room []byte) (int, error) {
		var length uintptr
		err := do(b, stageDevice, func(record *cError) int32 {
			return call(b.lib.registry, b.handle, uintptr(unsafe.Pointer(unsafe.SliceData(room))), uintptr(len(room)),
				uintptr(unsafe.Pointer(&length)), uintptr(unsafe.Pointer(record)))
		})
		if err != nil {
			return 0, err
		}
		return int(length) + zeroByte, nil
	})
	if err != nil {
		return nil, err
	}
	var properties []Property
	for line := range strings.Lines(text(characters)) {
		service, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		name, value, _ := strings.Cut(rest, "\t")
		properties = append(properties, Property{Service: service, Name: name, Value: value})
	}
	return properties, nil
}
