package admission

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/internal/engine/driverabi"
)

func TestPolicyGrantsWhatMatches(t *testing.T) {
	id := Identity{User: 1000, Executable: [32]byte{0xab}}
	other := Identity{User: 1001}
	const key = driverabi.EntitlementAdapterWeight
	for name, c := range map[string]struct {
		grant Grant
		mine  bool
		other bool
		tiers []driverabi.Tier // where it does not hold for id
	}{
		"every client":  {Grant{}, true, true, nil},
		"stars":         {Grant{User: "*", Executable: "*"}, true, true, nil},
		"a user":        {Grant{User: "1000"}, true, false, nil},
		"an executable": {Grant{Executable: id.executable()}, true, false, nil},
		"a tier": {Grant{Tiers: []driverabi.Tier{driverabi.Restricted}}, true, true,
			[]driverabi.Tier{driverabi.Unrestricted, driverabi.PerUser}},
		"another executable": {Grant{Executable: other.executable()}, false, true, nil},
	} {
		c.grant.Entitlements = []string{key}
		p := &Policy{Grants: []Grant{{Entitlements: []string{driverabi.EntitlementBaseline}}, c.grant}}
		require.Equal(t, c.mine, p.Allows(id, driverabi.Restricted, key), name)
		require.Equal(t, c.other, p.Allows(other, driverabi.Restricted, key), name)
		require.False(t, p.Allows(id, driverabi.Restricted, driverabi.EntitlementRealTime), name)
		for _, tier := range c.tiers {
			require.False(t, p.Allows(id, tier, key), name)
		}
	}
	require.False(t, (&Policy{}).Allows(id, driverabi.Restricted, driverabi.EntitlementBaseline))
	require.True(t, SharedPolicy().Allows(id, driverabi.Unrestricted, driverabi.EntitlementBaseline))
	require.False(t, SharedPolicy().Allows(id, driverabi.Restricted, key))
	for _, key := range driverabi.Entitlements() {
		require.Equal(t, Absent(key) == "", OwnerPolicy().Allows(id, driverabi.Restricted, key), key)
	}
}
