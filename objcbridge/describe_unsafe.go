package objcbridge

import (
	"strings"
	"unsafe"
)

// Describe returns the symbols of a procedure of a loaded program; "" is procedure 0.
func (p *Program) Describe(function string) (Description, error) {
	if strings.ContainsRune(function, 0) {
		return Description{}, refuse(StageDescribe, ReasonArgument, "a function name with a zero byte")
	}
	if err := p.use(StageDescribe); err != nil {
		return Description{}, err
	}
	defer p.object.done()
	if !p.names.TryRLock() {
		return Description{}, refuse(StageDescribe, ReasonState, "the program is being unloaded")
	}
	defer p.names.RUnlock()
	var name *byte
	if function != "" {
		name = cString(function)
	}
	var procedure int32
	rows, err := list(StageDescribe, func(rows []cSymbol) (int, error) {
		var count int32
		var record cError
		k := call(p.object.bridge.lib.programDescribe, p.object.handle, uintptr(unsafe.Pointer(name)),
			uintptr(unsafe.Pointer(&procedure)), uintptr(unsafe.Pointer(unsafe.SliceData(rows))), uintptr(len(rows)),
			uintptr(unsafe.Pointer(&count)), uintptr(unsafe.Pointer(&record)))
		return int(count), record.err(StageDescribe, k)
	})
	if err != nil {
		return Description{}, err
	}
	d := Description{Procedure: int(procedure)}
	for i := range rows {
		side := &d.Inputs
		if rows[i].output != 0 {
			side = &d.Outputs
		}
		*side = append(*side, rows[i].symbol())
	}
	return d, nil
}

func (c *cSymbol) symbol() Symbol {
	return Symbol{
		Name: goString(c.name), Type: goString(c.kind), Index: int(c.index),
		Batches: int(c.batches), Channels: int(c.channels), Depth: int(c.depth), Height: int(c.height), Width: int(c.width),
		BatchStride: int(c.batchStride), PlaneStride: int(c.planeStride), DepthStride: int(c.depthStride),
		RowStride: int(c.rowStride), PlaneCount: int(c.planeCount), Interleave: int(c.interleave),
	}
}

// Inspect asks the framework about the program.
func (p *Program) Inspect() (Facts, error) {
	if err := p.use(StageDescribe); err != nil {
		return Facts{}, err
	}
	defer p.object.done()
	var c cFacts
	var record cError
	k := call(p.object.bridge.lib.programInspect, p.object.handle, uintptr(unsafe.Pointer(&c)), uintptr(unsafe.Pointer(&record)))
	if err := record.err(StageDescribe, k); err != nil {
		return Facts{}, err
	}
	return Facts{
		Identity: goString(c.identity), Path: goString(c.path), Handle: c.handle, Intermediate: c.intermediate,
		State: c.state, Loaded: c.loaded != 0, QueueDepth: int(c.queueDepth),
	}, nil
}
