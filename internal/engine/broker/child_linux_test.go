//go:build !macrules

package broker

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
)

// A program that does not call Child would run its main again as a broker.
func TestAProgramThatDoesNotServeStartsNoBroker(t *testing.T) {
	fact.served.Store(false)
	defer fact.served.Store(true)
	_, err := Open(t.Context(), Options{})
	require.ErrorIs(t, err, ane.ErrUnavailable)
	require.EqualError(t, err, "ane: open on broker: engine not available: a private broker is a second process of "+
		"this program, whose main has not called broker.ServeChild; call broker.ServeChild() of ane/engine/broker "+
		"first in main (in tests: in TestMain), "+
		"or start `ane-roundtrip broker` and pass its socket to engine.BrokerPath")
}
