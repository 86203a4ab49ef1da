package ane

import (
	"errors"
	"fmt"
)

// QoS is the quality of service of a run: how urgent it is beside those of others that use
// the engine. The numbers are Apple's.
type QoS uint32

// Qualities of service, from the least to the most urgent.
const (
	QoSBackground      QoS = 9
	QoSUtility         QoS = 17
	QoSDefault         QoS = 21 // what runs have unless told
	QoSUserInitiated   QoS = 25
	QoSUserInteractive QoS = 33
)

// Prioritizer is an Invocation whose runs have a quality of service.
type Prioritizer interface {
	// SetQoS changes that of the runs to come. It is not called during a run.
	SetQoS(q QoS) error
}

// SetQoS changes the quality of service of the runs to come, which Result.QoS tells.
// errors.ErrUnsupported where the engine runs everything alike, as one without a queue
// does; ErrName for a number that is no QoS; ErrBusy while the request is in flight.
func (r *Request) SetQoS(q QoS) error {
	r = r.orZero()
	m := r.model.orZero()
	switch q {
	case QoSBackground, QoSUtility, QoSDefault, QoSUserInitiated, QoSUserInteractive:
	default:
		return m.fail("qos", ErrName, fmt.Sprintf("%d is no quality of service", q), "use QoSDefault or one beside it")
	}
	if r.model == nil || !r.busy.CompareAndSwap(idle, flying) {
		if r.model == nil || r.busy.Load() == shut {
			return m.fail("qos", ErrClosed, "", "make a new request")
		}
		return m.fail("qos", ErrBusy, "", "wait for Evaluate to return")
	}
	defer r.busy.Store(idle)
	p, ok := r.run.(Prioritizer)
	if !ok {
		return m.fail("qos", errors.ErrUnsupported, "the engine runs every request alike", "leave it out")
	}
	if err := p.SetQoS(q); err != nil {
		return err
	}
	r.qos = q
	return nil
}
