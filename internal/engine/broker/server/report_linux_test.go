//go:build !macrules

package server

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/anekit/anekit/ane"
	"github.com/anekit/anekit/internal/engine/broker/wire"
	"github.com/anekit/anekit/internal/engine/broker/wire/wiretest"
	"github.com/anekit/anekit/internal/engine/driverabi"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/internal/procmem"
	"github.com/anekit/anekit/models"
	"github.com/anekit/anekit/unimem"
)

// shareSurface registers memory that another client has, too.
func (p *peer) shareSurface(b *unimem.Block) (uint32, error) {
	f, err := b.Share()
	if err != nil {
		return 0, err
	}
	defer f.Close()
	p.token += 100
	return p.token, p.ask(wire.KindSurface, &wire.Surface{Size: uint64(b.Size()), Token: p.token}, &wire.SurfaceReply{},
		int(f.Fd()))
}

// TestReportsAreAboutOwnSurfaces: a client gets reports of surfaces that it registered, and of no other, even of memory
// that it shares with another client.
func TestReportsAreAboutOwnSurfaces(t *testing.T) {
	b := startBroker(t, Config{})
	p, other := b.join(alice, ""), b.join(mary, "")
	r, err := p.ready(model(t, "identity"), driverabi.QoSDefault)
	require.NoError(t, err)
	for _, m := range p.blocks {
		m.Bytes()[0] = 1
	}
	x, y := r.ports[0][0].Surface, r.ports[1][0].Surface
	report := func(p *peer, token uint32) (got wire.Reported) {
		require.NoError(t, p.ask(wire.KindReport, &wire.Report{Surface: token, Pages: 1, Memory: true}, &got))
		return got
	}
	ofX, ofY := report(p, x), report(p, y)
	require.NotZero(t, ofX.Address)
	require.NotEqual(t, ofX.Address, ofY.Address)
	require.NotEqual(t, ofX.Mapping.Inode, ofY.Mapping.Inode)
	require.True(t, ofX.Mapping.Shared)
	require.NotZero(t, ofX.Mapping.Resident)

	for _, token := range []uint32{0, x, y, 1 << 31} {
		for _, memory := range []bool{false, true} {
			err := other.ask(wire.KindReport, &wire.Report{Surface: token, Pages: 1, Memory: memory}, &wire.Reported{})
			require.ErrorIs(t, err, ane.ErrForeign)
		}
	}
	own, err := other.shareSurface(p.blocks[0])
	require.NoError(t, err)
	got := report(other, own)
	require.NotEqual(t, ofX.Address, got.Address, "each client has a mapping of its own")
	require.Equal(t, ofX.Mapping.Inode, got.Mapping.Inode)

	// Before the hello there is nothing to ask.
	require.ErrorIs(t, b.raw(alice).ask(wire.KindReport, &wire.Report{Surface: x}, &wire.Reported{}), ane.ErrDenied)
}

// TestReportsOfPages: pages beyond the surface have no frame, and the range wraps round nowhere.
func TestReportsOfPages(t *testing.T) {
	b := startBroker(t, Config{})
	p := b.join(alice, "")
	r, err := p.ready(model(t, "identity"), driverabi.QoSDefault)
	require.NoError(t, err)
	pages := uint32(p.blocks[0].Size() / os.Getpagesize())
	for i := range p.blocks[0].Bytes() {
		p.blocks[0].Bytes()[i] = 1
	}
	for _, q := range []wire.Report{{Page: 0, Pages: wire.MaxFrames}, {Page: pages - 1, Pages: 2}, {Page: pages,
		Pages: 1},
		{Page: 1<<32 - 1, Pages: wire.MaxFrames}, {Page: 1<<32 - 1}} {
		q.Surface = r.ports[0][0].Surface
		var got wire.Reported
		require.NoError(t, p.ask(wire.KindReport, &q, &got))
		require.Len(t, got.Frames, int(q.Pages))
		for i, f := range got.Frames {
			inside := uint64(q.Page)+uint64(i) < uint64(pages)
			require.Equal(t, inside && !got.Hidden, f != 0, "page %d of %d", int(q.Page)+i, pages)
		}
	}
}

// told is what the child prints.
type told struct {
	wire.Reported
	Surfaces []fileID // of the client
}

func init() { child["report"] = serveReports }

// serveReports is a broker with a client in the same process, which prints a report for each
// line that it reads.
func serveReports() int {
	if err := reportOnce(); err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

func reportOnce() (err error) {
	s, err := newServer(Config{}.settled(OwnerPolicy()))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	here, there, err := wiretest.Pair()
	if err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- newSession(s, there, alice, caller{pid: os.Getpid()}).run() }()
	p := newPeer(here)
	defer func() { p.close(); err = errors.Join(err, <-done) }()
	if err := p.greet(""); err != nil {
		return err
	}
	all, err := models.All()
	if err != nil {
		return err
	}
	r, err := p.ready(all[0], driverabi.QoSDefault)
	if err != nil {
		return err
	}
	if err := p.evaluate(r, 0); err != nil { // so that every surface has pages
		return err
	}
	got := told{}
	for _, b := range p.blocks {
		got.Surfaces = append(got.Surfaces, fileOf(b))
	}
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		q := &wire.Report{Surface: r.ports[0][0].Surface, Pages: 2, Memory: true}
		if err := p.ask(wire.KindReport, q, &got.Reported); err != nil {
			return err
		}
		if err := json.NewEncoder(os.Stdout).Encode(got); err != nil {
			return err
		}
	}
	return nil
}

// TestReportsEqualProc compares the report of a broker with what root reads of its process: as
// root, which sees page frames, and as a plain user.
func TestReportsEqualProc(t *testing.T) {
	leaktest.SkipEmulated(t)
	if os.Geteuid() != 0 {
		t.Skip("needs root to run a broker as another user")
	}
	for name, user := range map[string]uint32{"root": 0, "plain": 65534} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command("/proc/self/exe")
			cmd.Env = append(os.Environ(), childEnv+"=report")
			cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: user, Gid: user}}
			cmd.Dir = "/"
			cmd.Stderr = os.Stderr
			in, err := cmd.StdinPipe()
			require.NoError(t, err)
			out, err := cmd.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, cmd.Start())
			replies := bufio.NewScanner(out)
			var told told
			eventually(t, "report and /proc agree, between two changes of the runtime's own memory", func() bool {
				_, err := fmt.Fprintln(in)
				require.NoError(t, err)
				require.True(t, replies.Scan())
				require.NoError(t, json.Unmarshal(replies.Bytes(), &told), replies.Text())
				seen := lookUp(t, cmd.Process.Pid, told)
				require.Equal(t, seen.Mapping, told.Mapping)
				return seen.Rest == told.Rest
			})
			require.EqualValues(t, cmd.Process.Pid, told.PID)
			require.NotZero(t, told.Mapping.Resident)
			require.NotZero(t, told.Mapping.Inode)
			require.NotZero(t, told.Rest.PrivateDirty)
			frames, shown := procmem.Frames(cmd.Process.Pid, told.Address, 2)
			require.Equal(t, user != 0 || !shown, told.Hidden)
			if !told.Hidden {
				require.Equal(t, frames, told.Frames)
			}
			require.NoError(t, in.Close())
			require.NoError(t, cmd.Wait())
		})
	}
}

// lookUp is what /proc tells of the mapping that was reported, and of memory that is no surface.
func lookUp(t *testing.T, pid int, told told) (seen wire.Reported) {
	var of, rest procmem.Amounts
	require.NoError(t, procmem.Mappings(pid, func(m *procmem.Mapping) {
		switch {
		case m.Start <= told.Address && told.Address < m.End:
			seen.Mapping.Device, seen.Mapping.Inode, seen.Mapping.Shared = m.Device, m.Inode, m.Shared
			seen.Mapping.Offset = m.Offset + told.Address - m.Start
			of = m.Amounts
		case !m.OnDisk() && !slices.Contains(told.Surfaces, fileID{m.Device, m.Inode}):
			rest.Add(m.Amounts)
		}
	}))
	seen.Mapping.Amounts, seen.Rest = amounts(of), amounts(rest)
	return seen
}
