//go:build !macrules

package server

import (
	"context"
	"encoding/hex"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/server/admission"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/driverabi"
	"github.com/anekit/anekit/internal/engine/soft"
)

// What saves power aggressively needs the restricted tier and its entitlement, by name.
func TestAggressivePowerSaving(t *testing.T) {
	baseline := admission.Grant{Entitlements: []string{driverabi.EntitlementBaseline, driverabi.EntitlementAdapterWeight}}
	more := admission.Grant{Executable: hex.EncodeToString(mary.Executable[:]),
		Entitlements: []string{driverabi.EntitlementAggressivePower}}
	b := startBroker(t, Config{Policy: &admission.Policy{Grants: []admission.Grant{baseline, more}}})
	args := wire.Arguments{Aggressive: true}
	for _, one := range []struct {
		id      admission.Identity
		tier    driverabi.Tier
		allowed bool
	}{{alice, driverabi.Unrestricted, false}, {alice, driverabi.Restricted, false}, {mary, driverabi.Unrestricted,
		false}, {mary, driverabi.Restricted, true}} {
		p := b.join(one.id, one.tier)
		m := model(t, "conv-1x1")
		c, err := p.compile(m)
		require.NoError(t, err)
		err = p.ask(wire.KindLoad, &wire.Load{Program: c.Program, QoS: 21, Args: args}, &wire.Loaded{})
		if !one.allowed {
			require.ErrorIs(t, err, ane.ErrDenied)
			require.ErrorContains(t, err, driverabi.EntitlementAggressivePower)
			require.NoError(t, p.ask(wire.KindLoad, &wire.Load{Program: c.Program, QoS: 21}, &wire.Loaded{}))
			_, err = p.adapt(c.Program, m.Weights, args)
			require.ErrorIs(t, err, ane.ErrDenied)
			continue
		}
		require.NoError(t, err)
		r, err := p.tie(c)
		require.NoError(t, err)
		require.NoError(t, p.evaluate(r, 0))
		_, err = p.adapt(c.Program, m.Weights, args)
		require.NoError(t, err)
	}
}

// slowCompiler compiles when the test opens the door.
type slowCompiler struct {
	ane.Engine
	open <-chan struct{}
}

func (s slowCompiler) Compile(ctx context.Context, src ane.Source) (ane.Executable, error) {
	select {
	case <-s.open:
		return s.Engine.Compile(ctx, src)
	case <-ctx.Done():
		return nil, ane.Deadline("compile", "slow", ctx.Err())
	}
}

// A client with as many compiles in flight as it may have is answered all the same.
func TestCompilesDoNotKeepFrames(t *testing.T) {
	open := make(chan struct{})
	b := startBroker(t, Config{Engine: func() ane.Engine { return slowCompiler{soft.New(), open} }})
	p := b.join(alice, "")
	m := model(t, "identity")
	q := wire.Compile{File: m.Name, TextSize: uint64(len(m.Text))}
	f, err := wire.Seal("program", m.Text)
	require.NoError(t, err)
	defer f.Close()
	var ids []uint64
	for range MaxCompiles {
		id, err := p.post(wire.KindCompile, &q, int(f.Fd()))
		require.NoError(t, err)
		ids = append(ids, id)
	}
	var c wire.Compiled
	require.ErrorIs(t, p.ask(wire.KindCompile, &q, &c, int(f.Fd())), ane.ErrExhausted)
	require.NoError(t, p.ask(wire.KindPing, &wire.Empty{}, &wire.Empty{}))
	close(open)
	for _, id := range ids {
		require.NoError(t, p.read(id, &c))
	}
	require.EqualValues(t, MaxCompiles-1, b.counts.shared.Load(), "they share one")
}

// One program in memory serves several processes of an identity if they may share.
func TestProgramsAreSharedByEntitlement(t *testing.T) {
	plain := admission.Grant{Entitlements: []string{driverabi.EntitlementBaseline}}
	share := admission.Grant{Executable: hex.EncodeToString(mary.Executable[:]),
		Entitlements: []string{driverabi.EntitlementProcessModelShare}}
	b := startBroker(t, Config{Policy: &admission.Policy{Grants: []admission.Grant{plain, share}}})
	m := model(t, "identity")
	for _, one := range []struct {
		id     admission.Identity
		tier   driverabi.Tier
		copies int
	}{{alice, driverabi.Restricted, 2}, {mary, driverabi.Unrestricted, 2}, {mary, driverabi.Restricted, 1}} {
		before := b.live.Count()
		for range 2 {
			p := b.join(one.id, one.tier)
			for range 2 { // of one client it is there once in any case
				_, err := p.ready(m, 21)
				require.NoError(t, err)
			}
		}
		require.Equal(t, one.copies, b.live.Count()-before, "%v %s", one.id == mary, one.tier)
	}
	var purged wire.Purged
	p := b.join(alice, "")
	require.NoError(t, p.ask(wire.KindPurge, &wire.Purge{}, &purged))
}
