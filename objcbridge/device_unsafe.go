package objcbridge

import (
	"strings"
	"unsafe"
)

// Row counts of lists that C fills: of the first attempt, and a maximum that no list needs.
const (
	firstRows = 64
	mostRows  = 1 << 16
)

// list calls fill with a growing slice until all rows fit. fill returns the number of rows.
func list[T any](stage Stage, fill func(rows []T) (count int, err error)) ([]T, error) {
	for room := firstRows; room <= mostRows; {
		rows := make([]T, room)
		n, err := fill(rows)
		if n < 0 || n > mostRows {
			break
		}
		if n <= room {
			return rows[:n], err
		}
		room = n
	}
	return nil, &Error{Stage: stage, Kind: KindContradiction,
		Message: "the bridge reports an impossible number of rows"}
}

// SelfCheck compares every method that the bridge sends with the framework. It returns the rows
// even with an error, which is of KindMissing if a required row fails.
func (b *Bridge) SelfCheck() ([]Check, error) {
	if err := b.use(StageCheck); err != nil {
		return nil, err
	}
	defer b.mu.RUnlock()
	rows, err := list(StageCheck, func(rows []cCheck) (int, error) {
		var count int32
		var record cError
		k := call(b.lib.selfCheck, b.handle, uintptr(unsafe.Pointer(unsafe.SliceData(rows))), uintptr(len(rows)),
			uintptr(unsafe.Pointer(&count)), uintptr(unsafe.Pointer(&record)))
		return int(count), record.err(StageCheck, k)
	})
	checks := make([]Check, 0, len(rows))
	for i := range rows {
		c := &rows[i]
		checks = append(checks, Check{
			Class: goString(c.class), Selector: goString(c.selector), ClassMethod: c.classMethod != 0,
			Expected: goString(c.expected), Found: goString(c.found), NeededFor: goString(c.neededFor),
			Required: c.required != 0, Status: CheckStatus(c.status),
		})
	}
	return checks, err
}

// Device returns the framework's facts about the machine. The error is an *Error of StageDevice.
func (b *Bridge) Device() (Device, error) {
	if err := b.use(StageDevice); err != nil {
		return Device{}, err
	}
	defer b.mu.RUnlock()
	var c cDevice
	var record cError
	k := call(b.lib.deviceInfo, b.handle, uintptr(unsafe.Pointer(&c)), uintptr(unsafe.Pointer(&record)))
	if err := record.err(StageDevice, k); err != nil {
		return Device{}, err
	}
	return Device{
		HasANE: Answer(c.hasANE), VirtualMachine: Answer(c.virtualMachine), InternalBuild: Answer(c.internalBuild),
		Engines: int(c.engines), Cores: int(c.cores), Board: c.board,
		Architecture: text(c.architecture[:]), Subtype: text(c.subtype[:]), Variant: text(c.variant[:]),
		Product: text(c.product[:]), Build: text(c.build[:]),
	}, nil
}

// Folders returns where the framework puts the files of programs. The error is an *Error of StageCheck.
func (b *Bridge) Folders() (Folders, error) {
	if err := b.use(StageCheck); err != nil {
		return Folders{}, err
	}
	defer b.mu.RUnlock()
	var c cFolders
	var record cError
	k := call(b.lib.foldersNow, b.handle, uintptr(unsafe.Pointer(&c)), uintptr(unsafe.Pointer(&record)))
	if err := record.err(StageCheck, k); err != nil {
		return Folders{}, err
	}
	return Folders{Process: text(c.process[:]), User: text(c.user[:]), Foreign: c.foreign != 0,
		Verifies: c.verifies != 0}, nil
}

// Registry returns the properties of the engine in the IORegistry, in its order. The error is an *Error of StageDevice.
func (b *Bridge) Registry() ([]Property, error) {
	if err := b.use(StageDevice); err != nil {
		return nil, err
	}
	defer b.mu.RUnlock()
	const zeroByte = 1
	characters, err := list(StageDevice, func(room []byte) (int, error) {
		var length uintptr
		var record cError
		k := call(b.lib.registry, b.handle, uintptr(unsafe.Pointer(unsafe.SliceData(room))), uintptr(len(room)),
			uintptr(unsafe.Pointer(&length)), uintptr(unsafe.Pointer(&record)))
		if err := record.err(StageDevice, k); err != nil {
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
