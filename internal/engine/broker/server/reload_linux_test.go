//go:build !macrules

package server

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/await"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/driverabi"
)

// grants is a policy that grants every client the same.
func grants(entitlements ...string) *Policy {
	return &Policy{Grants: []Grant{{Entitlements: entitlements}}}
}

// TestPolicyOfConnectedClients: another policy is in force for the next call of every client.
// What it forbids ends, what it grants begins, and what a client has made stays.
func TestPolicyOfConnectedClients(t *testing.T) {
	next := OwnerPolicy()
	b := startBroker(t, Config{Policy: next, ReadPolicy: func() (*Policy, error) { return next, nil }})
	p := b.join(alice, "")
	m := model(t, "identity")
	urgent, err := p.ready(m, driverabi.QoSRealTime)
	require.NoError(t, err)
	plain, err := p.ready(m, driverabi.QoSDefault)
	require.NoError(t, err)
	chain := func() error {
		q := wire.Chain{Steps: []wire.Step{{Request: plain.request}}, Sequence: p.id + 1}
		return p.ask(wire.KindChain, &q, &wire.Done{})
	}
	all := func() {
		t.Helper()
		require.NoError(t, p.evaluate(urgent, 0))
		require.NoError(t, chain())
		_, err := p.compile(m)
		require.NoError(t, err)
	}
	all()

	next = grants()
	require.NoError(t, b.readPolicy())
	require.ErrorIs(t, chain(), ane.ErrDenied)
	_, err = p.compile(m)
	require.ErrorIs(t, err, ane.ErrDenied)
	err = p.evaluate(urgent, 0)
	require.ErrorIs(t, err, ane.ErrDenied)
	require.ErrorContains(t, err, driverabi.EntitlementRealTime)
	require.NoError(t, p.evaluate(plain, 0), "it was loaded before")
	none := b.join(alice, "")
	require.Equal(t, string(driverabi.Unrestricted), none.hello.Tier)

	next = OwnerPolicy()
	require.NoError(t, b.readPolicy())
	all()
	require.NoError(t, p.ask(wire.KindUnload, &wire.Unload{Program: plain.program}, &wire.Empty{}))
}

// TestReload: a signal has the file read. One that cannot be used changes nothing, and the log names the file and the
// line.
func TestReload(t *testing.T) {
	dir := t.TempDir()
	require.NoError(t, os.Chmod(dir, 0o700))
	path := filepath.Join(dir, "policy.json")
	put := func(text string) { require.NoError(t, os.WriteFile(path, []byte(text), 0o600)) }
	signal := make(chan os.Signal)
	var log lines
	socket := listen(t, Config{Stay: true, Policy: grants(driverabi.EntitlementBaseline), Reload: signal,
		ReadPolicy: func() (*Policy, error) { return ReadPolicy(path) }, Log: slog.New(slog.NewTextHandler(&log, nil))})
	p := dial(t, socket)
	counted := func(name string) uint64 {
		var s wire.Stats
		require.NoError(t, p.ask(wire.KindStats, &wire.Empty{}, &s))
		for _, c := range s.Counters {
			if c.Name == name {
				return c.Value
			}
		}
		t.Fatal("no counter ", name)
		return 0
	}
	compiles := func() error {
		_, err := p.compile(model(t, "identity"))
		return err
	}
	require.NoError(t, compiles())

	for i, bad := range []string{"{\n\"grants\": [\n{\"entitlements\": null}]}", "{\n\n\"grant\": []}", ""} {
		put(bad)
		signal <- unix.SIGHUP
		await.Until(t, "the file is refused", func() bool { return counted("policies refused") == uint64(i+1) })
		require.NoError(t, compiles(), "the policy from before is in force")
	}
	require.NoError(t, os.Remove(path))
	signal <- unix.SIGHUP
	await.Until(t, "there is no file", func() bool { return counted("policies refused") == 4 })
	require.NoError(t, compiles())
	require.Contains(t, log.String(), path)
	require.Contains(t, log.String(), "line 3")
	require.Contains(t, log.String(), "level=ERROR")

	put(`{"grants": []}`)
	signal <- unix.SIGHUP
	await.Until(t, "the file is read", func() bool { return counted("policies read") == 1 })
	require.ErrorIs(t, compiles(), ane.ErrDenied)
	await.Until(t, "the log says so", func() bool { return strings.Contains(log.String(), "policy read") }) // later
}

// TestReloadWithoutFile: the signal ends nothing, and the log tells what to do.
func TestReloadWithoutFile(t *testing.T) {
	signal := make(chan os.Signal)
	var log lines
	socket := listen(t, Config{Stay: true, Reload: signal, Log: slog.New(slog.NewTextHandler(&log, nil))})
	p := dial(t, socket)
	signal <- unix.SIGHUP
	signal <- unix.SIGHUP // the first has been dealt with
	require.Contains(t, log.String(), "--policy FILE")
	_, err := p.compile(model(t, "identity"))
	require.NoError(t, err)
}

// TestBudgetsAreTold: the reply to hello and the counters tell a client what it may have.
func TestBudgetsAreTold(t *testing.T) {
	b := startBroker(t, Config{})
	p := b.join(alice, "")
	var s wire.Stats
	require.NoError(t, p.ask(wire.KindStats, &wire.Empty{}, &s))
	told := map[string]uint64{}
	for _, c := range s.Counters {
		require.NotContains(t, told, c.Name)
		told[c.Name] = c.Value
	}
	for _, one := range []struct {
		name       string
		limit      uint64
		each, full int64
	}{
		{"mappings", p.hello.Limits.Mappings, b.quotas.mappings.each, b.quotas.mappings.total},
		{"descriptors", p.hello.Limits.Descriptors, b.quotas.descriptors.each, b.quotas.descriptors.total},
		{"bytes of memory", p.hello.Limits.MemoryBytes, b.quotas.memory.each, b.quotas.memory.total},
	} {
		require.Positive(t, one.limit, one.name)
		require.EqualValues(t, one.each, one.limit, one.name)
		require.EqualValues(t, one.each, told["own "+one.name+" allowed"], one.name)
		require.EqualValues(t, one.full, told[one.name+" allowed"], one.name)
	}
	require.EqualValues(t, MaxClients, told["clients allowed"])
	require.EqualValues(t, MaxSurfaces, told["own surfaces allowed"])
}
