package ane

import (
	"errors"
	"fmt"

	"github.com/anekit/anekit/internal/engine/driverabi"
)

// QoS is the quality of service of a run: its priority among the runs of all clients of
// the engine. The numbers are Apple's.
type QoS uint32

// Qualities of service, from the lowest to the highest priority.
const (
	QoSBackground      = QoS(driverabi.QoSBackground)
	QoSUtility         = QoS(driverabi.QoSUtility)
	QoSDefault         = QoS(driverabi.QoSDefault) // the default
	QoSUserInitiated   = QoS(driverabi.QoSUserInitiated)
	QoSUserInteractive = QoS(driverabi.QoSUserInteractive)
)

// Prioritizer is an Invocation whose runs have a quality of service.
type Prioritizer interface {
	// SetQoS sets it for later runs. It is not called during a run.
	SetQoS(q QoS) error
}

// SetQoS sets the quality of service of later runs; Result.QoS returns it. Errors: errors.ErrUnsupported (an engine
// without a queue of priorities), ErrName (a number that is not a QoS), ErrBusy (the request is in flight).
func (r *Request) SetQoS(q QoS) error {
	r = orZero(r)
	m := orZero(r.model)
	switch q {
	case QoSBackground, QoSUtility, QoSDefault, QoSUserInitiated, QoSUserInteractive:
	default:
		return m.fail("qos", ErrName, fmt.Sprintf("%d is not a quality of service", q),
			"use QoSDefault or another constant QoS..")
	}
	if err := r.claim("qos", flying); err != nil {
		return err
	}
	defer r.state.Store(idle)
	p, ok := r.run.(Prioritizer)
	if !ok {
		return m.fail("qos", errors.ErrUnsupported, "the engine has no priorities", "do not call SetQoS on this engine")
	}
	if err := p.SetQoS(q); err != nil {
		return err
	}
	r.qos = q
	return nil
}
