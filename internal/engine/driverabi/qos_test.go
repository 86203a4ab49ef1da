package driverabi_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// Package ane does not import this one: its qualities of service are these numbers.
func TestQualitiesOfServiceAreThoseOfPackageAne(t *testing.T) {
	for own, theirs := range map[uint32]ane.QoS{
		driverabi.QoSBackground: ane.QoSBackground, driverabi.QoSUtility: ane.QoSUtility,
		driverabi.QoSDefault: ane.QoSDefault, driverabi.QoSUserInitiated: ane.QoSUserInitiated,
		driverabi.QoSUserInteractive: ane.QoSUserInteractive,
	} {
		require.EqualValues(t, own, theirs)
	}
}

func TestLowerWalksTheClasses(t *testing.T) {
	var seen []uint32
	qos := driverabi.QoSRealTime
	for range driverabi.QoSClasses() {
		seen = append(seen, qos)
		qos = driverabi.Lower(qos)
	}
	for i, c := range driverabi.QoSClasses() {
		require.Equal(t, c.QoS, seen[i])
	}
	require.Equal(t, driverabi.QoSBackground, qos, "there is none after the last")
	require.Equal(t, driverabi.QoSBackground, driverabi.Lower(7))
}
