package driverabi

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Tables 27.7 and 27.8; the first two are the gates of listing 27.6.
func TestEntitlements(t *testing.T) {
	require.Equal(t, `com.apple.ane.iokit-user-access
com.apple.ane.allow-dataChaining-access
com.apple.ane.realtime-priority-client
com.apple.ane.allow-system-reserved-priorities
com.apple.ane.memory
com.apple.ane.allow-data
com.apple.private.ane.allow-set-client-hints
com.apple.private.ane.allow-share-coalition-hints
com.apple.aned.private.allow
com.apple.aned.private.ANEAccess.allow
com.apple.aned.private.adapterWeight.allow
com.apple.aned.private.processModelShare.allow
com.apple.aned.private.secondaryANECompilerServiceAccess.allow
com.apple.aned.private.aggressivePowerSaving
com.apple.aned.private.modelPurgeInAllPartitions
com.apple.security.temporary-exception.iokit-user-client-class
com.apple.security.ts.ane-client`, strings.Join(Entitlements(), "\n"))
}
