package objcbridge

import "unsafe"

// Attributes returns the modelAttributes of a loaded program as JSON. Objects of classes
// unknown to JSON are {"$class": NAME}. The error is of KindMissing if the attributes cannot
// be encoded: no dictionary, text that is not Unicode, or unlimited nesting.
func (p *Program) Attributes() ([]byte, error) {
	if err := p.use(StageDescribe); err != nil {
		return nil, err
	}
	defer p.object.done()
	for room := firstAttributes; ; {
		text := make([]byte, room)
		var length uintptr
		var record cError
		k := call(p.object.bridge.lib.programAttributes, p.object.handle,
			uintptr(unsafe.Pointer(unsafe.SliceData(text))),
			uintptr(room), uintptr(unsafe.Pointer(&length)), uintptr(unsafe.Pointer(&record)))
		if err := record.err(StageDescribe, k); err != nil {
			return nil, err
		}
		switch {
		case length > mostAttributes:
			return nil, &Error{Stage: StageDescribe, Kind: KindContradiction,
				Message: "the bridge reports an impossible length"}
		case int(length) <= room:
			return text[:length], nil
		}
		room = int(length)
	}
}

// Buffer sizes for attributes: of the first attempt, and the bridge's maximum.
const (
	firstAttributes = 16 << 10
	mostAttributes  = 16 << 20
)

// Inspect returns the framework's facts about the program. The error is an *Error of StageDescribe.
func (p *Program) Inspect() (Facts, error) {
	if err := p.use(StageDescribe); err != nil {
		return Facts{}, err
	}
	defer p.object.done()
	var c cFacts
	var record cError
	k := call(p.object.bridge.lib.programInspect, p.object.handle, uintptr(unsafe.Pointer(&c)),
		uintptr(unsafe.Pointer(&record)))
	if err := record.err(StageDescribe, k); err != nil {
		return Facts{}, err
	}
	return Facts{
		Identity: goString(c.identity), Path: goString(c.path), Handle: c.handle, Intermediate: c.intermediate,
		State: c.state, Loaded: c.loaded != 0, QueueDepth: int(c.queueDepth), PerfStats: c.perfStatsMask,
		Recovered: c.recovered.refusal(),
	}, nil
}
