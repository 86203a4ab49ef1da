//go:build !macrules

package server

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/server/admission"
	"github.com/anekit/anekit/internal/engine/broker/server/shared"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// documented is the table of entitlements in docs/BROKER.md.
func documented(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "BROKER.md"))
	require.NoError(t, err)
	rows := map[string]string{}
	line := regexp.MustCompile("(?m)^\\| `(com\\.apple\\.[^`]+)` \\| (.+) \\|$")
	for _, row := range line.FindAllStringSubmatch(string(text), -1) {
		require.NotContains(t, rows, row[1])
		rows[row[1]] = row[2]
	}
	return rows
}

// needed are calls of a client that need an entitlement, which all fail without it.
var needed = map[string]func(t *testing.T, b *broker, p *peer) error{
	driverabi.EntitlementBaseline: func(t *testing.T, _ *broker, p *peer) error {
		_, err := p.compile(model(t, "identity"))
		return err
	},
	driverabi.EntitlementDataChaining: func(t *testing.T, _ *broker, p *peer) error {
		r, err := p.ready(model(t, "identity"), driverabi.QoSDefault)
		require.NoError(t, err)
		return p.ask(wire.KindChain, &wire.Chain{Sequence: 1, Steps: []wire.Step{{Request: r.request, QoS: 21}}},
			&wire.Done{})
	},
	driverabi.EntitlementRealTime: func(t *testing.T, _ *broker, p *peer) error {
		_, err := p.ready(model(t, "identity"), driverabi.QoSRealTime)
		return err
	},
	driverabi.EntitlementAdapterWeight: func(t *testing.T, _ *broker, p *peer) error {
		m := model(t, "conv-1x1")
		r, err := p.ready(m, driverabi.QoSDefault)
		require.NoError(t, err)
		_, err = p.adapt(r.program, m.Weights, wire.Arguments{})
		return err
	},
	driverabi.EntitlementProcessModelShare: func(t *testing.T, b *broker, p *peer) error {
		for _, q := range []*peer{p, b.join(alice, driverabi.Restricted)} {
			_, err := q.compile(model(t, "identity"))
			require.NoError(t, err)
		}
		if n := b.live.Count(); n != 1 {
			return fmt.Errorf("%d programs without %s", n, driverabi.EntitlementProcessModelShare)
		}
		return nil
	},
	driverabi.EntitlementSecondaryCompiler: func(t *testing.T, b *broker, _ *peer) error {
		g := grant{Rights: admission.Rights{Policy: b.conf.Policy, ID: alice, Tier: driverabi.Restricted}}
		if g.compileTime() < longCompileTime {
			return fmt.Errorf("a minute without %s", driverabi.EntitlementSecondaryCompiler)
		}
		return nil
	},
	driverabi.EntitlementAggressivePower: func(t *testing.T, _ *broker, p *peer) error {
		c, err := p.compile(model(t, "identity"))
		require.NoError(t, err)
		return p.ask(wire.KindLoad, &wire.Load{Program: c.Program, QoS: 21, Args: wire.Arguments{Aggressive: true}},
			&wire.Loaded{})
	},
	driverabi.EntitlementPurgeAllPartitions: func(t *testing.T, _ *broker, p *peer) error {
		return p.ask(wire.KindPurge, &wire.Purge{Key: PurgeEverybody}, &wire.Purged{})
	},
}

// TestEntitlementTable: each entitlement has its row in docs/BROKER.md. A call is refused without it, or a policy that
// grants it is, with its line and the reason in that row.
func TestEntitlementTable(t *testing.T) {
	rows := documented(t)
	require.Len(t, rows, len(driverabi.Entitlements()))
	all := admission.OwnerPolicy().Grants[0].Entitlements
	for _, key := range driverabi.Entitlements() {
		t.Run(key, func(t *testing.T) {
			require.NotEmpty(t, rows[key])
			if why := admission.Absent(key); why != "" {
				require.Equal(t, "refused: "+why, rows[key])
				path := filepath.Join(t.TempDir(), "policy.json")
				require.NoError(t, os.WriteFile(path, fmt.Appendf(nil, "{\"grants\": [\n{\"entitlements\": [\n%q]}]}", key),
					0o600))
				_, err := shared.ReadPolicy(path)
				require.ErrorIs(t, err, ane.ErrName)
				require.ErrorContains(t, err, "line 2: grant 1")
				require.ErrorContains(t, err, why)
				return
			}
			require.False(t, strings.HasPrefix(rows[key], "refused"))
			if key == driverabi.EntitlementAccess {
				return // TestAccessRunsWhatIsCompiled
			}
			for _, granted := range []bool{true, false} {
				keys := slices.DeleteFunc(slices.Clone(all), func(k string) bool { return k == key && !granted })
				b := startBroker(t, Config{Policy: &admission.Policy{Grants: []admission.Grant{{Entitlements: keys}}}})
				err := needed[key](t, b, b.join(alice, driverabi.Restricted))
				if granted {
					require.NoError(t, err)
				} else {
					require.ErrorContains(t, err, key)
				}
			}
		})
	}
}

// TestAccessRunsWhatIsCompiled: a client with access and without the baseline opens the restricted tier, loads and
// evaluates what another client of its identity has compiled, and compiles nothing itself.
func TestAccessRunsWhatIsCompiled(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700))
	b := startBroker(t, Config{CacheDir: dir})
	_, err := b.join(alice, "").compile(model(t, "identity"))
	require.NoError(t, err)

	b = startBroker(t, Config{CacheDir: dir, Policy: &admission.Policy{Grants: []admission.Grant{
		{Entitlements: []string{driverabi.EntitlementAccess}}}}})
	p := b.join(alice, driverabi.Restricted)
	r, err := p.ready(model(t, "identity"), driverabi.QoSDefault)
	require.NoError(t, err)
	require.NoError(t, p.evaluate(r, driverabi.QoSDefault))
	_, err = p.compile(model(t, "add"))
	require.ErrorIs(t, err, ane.ErrDenied)
	require.ErrorContains(t, err, driverabi.EntitlementBaseline)
	_, err = b.join(mary, "").compile(model(t, "identity"))
	require.ErrorIs(t, err, ane.ErrDenied, "another identity compiled it")
}

// TestDriverIsToldWhatAClientMay: the driver, which checks for itself, gets a client's entitlements and tier.
func TestDriverIsToldWhatAClientMay(t *testing.T) {
	for _, one := range []struct {
		tier                       driverabi.Tier
		keys                       []string
		real, chaining, restricted bool
	}{
		{driverabi.Restricted, []string{driverabi.EntitlementBaseline}, false, false, true},
		{driverabi.Unrestricted, []string{driverabi.EntitlementBaseline, driverabi.EntitlementDataChaining}, false, true,
			false},
		{driverabi.Restricted, []string{driverabi.EntitlementBaseline, driverabi.EntitlementRealTime}, true, false, true},
	} {
		b := startBroker(t, Config{Policy: &admission.Policy{Grants: []admission.Grant{{Entitlements: one.keys}}}})
		b.join(alice, one.tier)
		b.mu.Lock()
		require.Len(t, b.sessions, 1)
		for c := range b.sessions {
			got := c.stamp()
			require.Equal(t, []bool{true, one.real, one.chaining, one.restricted},
				[]bool{got.Privileged, got.RealTime, got.AllowDataChaining, got.Restricted}, "%v", one.keys)
			require.Equal(t, alice.String(), got.Identity)
		}
		b.mu.Unlock()
	}
}

// TestNumbersOfThePage: the numbers that docs/BROKER.md and the command's help promise.
func TestNumbersOfThePage(t *testing.T) {
	require.Equal(t, time.Minute, compileTime)
	require.Equal(t, 15*time.Minute, longCompileTime)
	require.Equal(t, 5*time.Second, DefaultLinger)
	require.Equal(t, 5*time.Second, time.Duration(helloTime))
	require.Equal(t, [2]int{64, 1000}, [2]int{MaxClients, MaxTroubles})
	page, err := os.ReadFile(filepath.Join("..", "..", "..", "..", "docs", "BROKER.md"))
	require.NoError(t, err)
	for _, said := range []string{"hello (5 s)", "all 64 places", "longer than a minute, up to 15", "more than 1 MiB",
		"256 pending"} {
		require.Contains(t, string(page), said)
	}
}
