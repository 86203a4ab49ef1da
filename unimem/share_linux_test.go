//go:build !macrules

package unimem_test

import (
	"fmt"
	"io"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/blockoption"
	"github.com/anekit/anekit/internal/leaktest"
	"github.com/anekit/anekit/unimem"
)

// playShare plays the part named in the environment. Each part documents descriptor 3; the
// child and the test take turns through standard input and output.
func playShare(part string) error {
	switch part {
	case "sharer":
		return playSharer()
	case "limited":
		return playLimited()
	}
	return playAdopter()
}

// turn reports the end of a step and waits for the test.
func turn() error {
	if _, err := os.Stdout.Write([]byte{'.'}); err != nil {
		return err
	}
	_, err := io.ReadFull(os.Stdin, make([]byte, 1))
	return err
}

// playAdopter adopts descriptor 3, tells its Keys on the first page, checks what the test wrote,
// and writes to the same pages.
func playAdopter() error {
	f := os.NewFile(3, "shared")
	b, err := unimem.Adopt(f, 3*page)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	own, err := unimem.Open(1, unimem.OnHeap())
	if err != nil {
		return err
	}
	copy(b.Bytes()[100:], fmt.Sprintf("heap %v, shared %v.", own.Key(), b.Key()))
	if err := own.Close(); err != nil {
		return err
	}
	for i := range 3 {
		if got := b.Bytes()[i*page+5]; got != byte(i+1) {
			return fmt.Errorf("page %d has %d", i, got)
		}
		b.Bytes()[i*page+6] = byte(i + 101)
	}
	if err := turn(); err != nil { // the test closes its Block now
		return err
	}
	if b.Bytes()[7] != 77 || b.Bytes()[2*page+6] != 103 {
		return fmt.Errorf("the pages are gone after the sharer closed them")
	}
	return b.Close()
}

// playSharer sends a Block through the socket at descriptor 3 and exits without closing it.
func playSharer() error {
	b, err := unimem.Open(2 * page)
	if err != nil {
		return err
	}
	b.Bytes()[page+9] = 42
	f, err := b.Share()
	if err != nil {
		return err
	}
	if err := unix.Sendmsg(3, []byte{1}, unix.UnixRights(int(f.Fd())), nil, 0); err != nil {
		return err
	}
	os.Exit(0)
	return nil
}

// child is this program, playing a part.
type child struct {
	*exec.Cmd
	in  io.WriteCloser
	out io.ReadCloser
}

func startShare(t *testing.T, part string, file *os.File) child {
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), shareEnv+"="+part)
	cmd.ExtraFiles = []*os.File{file}
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, cmd.Start())
	return child{cmd, in, out}
}

// await waits until the child has taken its turn.
func (c child) await(t *testing.T) {
	_, err := io.ReadFull(c.out, make([]byte, 1))
	require.NoError(t, err)
}

func openFiles(t *testing.T) int {
	all, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	return len(all)
}

func TestShareWithAnotherProcess(t *testing.T) {
	leaktest.SkipEmulated(t)
	live := unimem.Live()
	b, err := unimem.Open(3 * page)
	require.NoError(t, err)
	for i := range 3 {
		b.Bytes()[i*page+5] = byte(i + 1)
	}
	f, err := b.Share()
	require.NoError(t, err)
	c := startShare(t, "adopter", f)
	require.NoError(t, f.Close())
	c.await(t)
	told, _, _ := strings.Cut(string(b.Bytes()[100:400]), ".")
	require.Contains(t, told, fmt.Sprintf("shared %v", b.Key()), "one memory has one Key in all processes")
	own, err := unimem.Open(1, unimem.OnHeap())
	require.NoError(t, err)
	require.NotContains(t, told, fmt.Sprint(own.Key().Space), "heaps of two processes have equal ids, not equal Keys")
	require.NoError(t, own.Close())
	for i := range 3 {
		require.EqualValues(t, i+101, b.Bytes()[i*page+6], "the child wrote into these pages")
	}
	b.Bytes()[7] = 77
	require.NoError(t, b.Close(), "the sharer closes first")
	_, err = c.in.Write([]byte{'.'})
	require.NoError(t, err)
	require.NoError(t, c.Wait())
	require.Equal(t, live, unimem.Live())
}

// The sharing process dies without Close; its memory exists here.
func TestAdoptFromProcessThatDied(t *testing.T) {
	leaktest.SkipEmulated(t)
	before, live := openFiles(t), unimem.Live()
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_SEQPACKET|unix.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	theirs := os.NewFile(uintptr(fds[1]), "socket")
	c := startShare(t, "sharer", theirs)
	require.NoError(t, theirs.Close())
	require.NoError(t, c.Wait())

	control := make([]byte, unix.CmsgSpace(4))
	_, n, _, _, err := unix.Recvmsg(fds[0], make([]byte, 1), control, unix.MSG_CMSG_CLOEXEC)
	require.NoError(t, err)
	messages, err := unix.ParseSocketControlMessage(control[:n])
	require.NoError(t, err)
	require.Len(t, messages, 1)
	rights, err := unix.ParseUnixRights(&messages[0])
	require.NoError(t, err)
	f := os.NewFile(uintptr(rights[0]), "shared")
	b, err := unimem.Adopt(f, 2*page)
	require.NoError(t, err)
	require.NoError(t, f.Close())
	require.EqualValues(t, 42, b.Bytes()[page+9])
	require.NoError(t, b.Close())
	require.NoError(t, b.Close())
	require.NoError(t, unix.Close(fds[0]))
	require.Equal(t, before, openFiles(t))
	require.Equal(t, live, unimem.Live())
}

// An adopted Block behaves like any other.
func TestAdoptedBlock(t *testing.T) {
	before, live := openFiles(t), unimem.Live()
	b, err := unimem.Open(2 * page)
	require.NoError(t, err)
	b.Bytes()[0], b.Bytes()[2*page-1] = 1, 2
	f, err := b.Share()
	require.NoError(t, err)
	flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFD, 0)
	require.NoError(t, err)
	require.NotZero(t, flags&unix.FD_CLOEXEC)

	counted := unimem.Live()
	a, err := unimem.Adopt(f, page+1, unimem.Warm(), nil)
	require.NoError(t, err)
	require.Equal(t, counted.Blocks+1, unimem.Live().Blocks)
	require.Equal(t, counted.Bytes, unimem.Live().Bytes, "the memory is its maker's")
	require.Equal(t, 2*page, a.Size(), "rounded up")
	require.Equal(t, "memfd", a.Backing())
	require.NotEqual(t, b.ID(), a.ID())
	require.Equal(t, b.Key(), a.Key(), "the same memory")
	require.NotEqual(t, b.Address(), a.Address())
	require.NotEqual(t, f.Fd(), a.Handle(), "it has its own descriptor")
	require.Equal(t, b.Bytes(), a.Bytes(), "Warm has written nothing")
	part, err := unimem.Adopt(f, 1)
	require.NoError(t, err)
	require.Equal(t, page, part.Size(), "the first page of two")
	require.NoError(t, part.Close())
	require.NoError(t, f.Close())
	require.NoError(t, b.Close())

	m, err := unimem.Map(a)
	require.NoError(t, err)
	require.NotEqual(t, a.Address(), addressOf(m.Bytes()))
	m.Bytes()[9] = 9
	require.EqualValues(t, 9, a.Bytes()[9])
	require.ErrorIs(t, a.Close(), unimem.ErrInUse)
	require.NoError(t, m.Close())

	again, err := a.Share()
	require.NoError(t, err, "what was adopted can be shared")
	require.NoError(t, a.Close())
	require.NoError(t, a.Close())
	require.Nil(t, a.Bytes())
	a, err = unimem.Adopt(again, 2*page, unimem.PoisonOnClose())
	require.NoError(t, err)
	require.EqualValues(t, 9, a.Bytes()[9])
	stale := a.Bytes()
	require.NoError(t, a.Close())
	require.True(t, faults(stale))
	require.NoError(t, again.Close())
	require.Equal(t, before, openFiles(t))
	require.Equal(t, live, unimem.Live())
}

// memfdFile returns a memfd that another program may have made.
func memfdFile(t *testing.T, size int64, flags, seals int) *os.File {
	fd, err := unix.MemfdCreate("foreign", unix.MFD_CLOEXEC|flags)
	require.NoError(t, err)
	require.NoError(t, unix.Ftruncate(fd, size))
	if seals != 0 {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals)
		require.NoError(t, err)
	}
	return os.NewFile(uintptr(fd), "foreign")
}

func TestAdoptRefuses(t *testing.T) {
	const good = unix.F_SEAL_SHRINK | unix.F_SEAL_SEAL
	before, live := openFiles(t), unimem.Live()
	open := func(path string) *os.File {
		f, err := os.Open(path)
		require.NoError(t, err)
		return f
	}
	sealed := memfdFile(t, page, unix.MFD_ALLOW_SEALING, good)
	defer sealed.Close()
	readOnly := open(fmt.Sprintf("/proc/self/fd/%d", sealed.Fd()))
	regular, err := os.OpenFile(filepath.Join(t.TempDir(), "file"), os.O_RDWR|os.O_CREATE, 0o600)
	require.NoError(t, err)
	require.NoError(t, regular.Truncate(page))
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	require.NoError(t, err)
	shut := open("/dev/null")
	require.NoError(t, shut.Close())
	for name, test := range map[string]struct {
		file *os.File
		size int
		want error
	}{
		"no seals": {memfdFile(t, page, unix.MFD_ALLOW_SEALING, 0), page, unimem.ErrSeal},
		"may be cut short": {memfdFile(t, page, unix.MFD_ALLOW_SEALING, unix.F_SEAL_SEAL|unix.F_SEAL_GROW), page,
			unimem.ErrSeal},
		"seals may be added": {memfdFile(t, page, unix.MFD_ALLOW_SEALING, unix.F_SEAL_SHRINK), page, unimem.ErrSeal},
		"no sealing at all":  {memfdFile(t, page, 0, 0), page, unimem.ErrSeal},
		"sealed for writing": {memfdFile(t, page, unix.MFD_ALLOW_SEALING, good|unix.F_SEAL_WRITE), page,
			unimem.ErrSeal},
		"future writes": {memfdFile(t, page, unix.MFD_ALLOW_SEALING, good|unix.F_SEAL_FUTURE_WRITE), page,
			unimem.ErrSeal},
		"shorter":            {memfdFile(t, page, unix.MFD_ALLOW_SEALING, good), page + 1, unimem.ErrSize},
		"shorter when whole": {memfdFile(t, page-1, unix.MFD_ALLOW_SEALING, good), page - 1, unimem.ErrSize},
		"empty":              {memfdFile(t, 0, unix.MFD_ALLOW_SEALING, good), 1, unimem.ErrSize},
		"read only":          {readOnly, page, unimem.ErrCreate},
		"directory":          {open("/"), page, unimem.ErrShare},
		"device":             {open("/dev/zero"), page, unimem.ErrShare},
		"regular file":       {regular, page, unimem.ErrShare},
		"socket":             {os.NewFile(uintptr(fds[0]), "socket"), page, unimem.ErrShare},
		"another socket":     {os.NewFile(uintptr(fds[1]), "socket"), page, unimem.ErrShare},
		"closed":             {shut, page, unimem.ErrShare},
		"nil":                {nil, page, unimem.ErrShare},
		"zero":               {&os.File{}, page, unimem.ErrShare},
		"zero size":          {memfdFile(t, page, unix.MFD_ALLOW_SEALING, good), 0, unimem.ErrZeroSize},
		"negative size":      {memfdFile(t, page, unix.MFD_ALLOW_SEALING, good), -1, unimem.ErrSize},
		"greatest size":      {memfdFile(t, page, unix.MFD_ALLOW_SEALING, good), math.MaxInt, unimem.ErrSize},
		"beyond the machine": {memfdFile(t, page, unix.MFD_ALLOW_SEALING, good), 1 << 60, unimem.ErrSize},
	} {
		for range 3 { // a refusal leaks nothing
			b, err := unimem.Adopt(test.file, test.size)
			require.ErrorIs(t, err, test.want, name)
			var typed *unimem.Error
			require.ErrorAs(t, err, &typed)
			require.Equal(t, "adopt", typed.Op, name)
			require.NotEmpty(t, typed.Hint, name)
			require.Nil(t, b)
		}
		if test.file != nil && test.file != shut && name != "zero" {
			require.NoError(t, test.file.Close())
		}
	}
	for name, option := range map[string]unimem.Option{
		"heap": unimem.OnHeap(), "cells": unimem.SurfacePerCell(), "no library": blockoption.On(nil),
		"library": memories["surface"](t),
	} {
		_, err := unimem.Adopt(sealed, page, option)
		require.ErrorIs(t, err, unimem.ErrOption, name)
	}
	require.Equal(t, before+1, openFiles(t), "only the descriptor still in use")
	require.Equal(t, live, unimem.Live())
}

// Touching huge pages that the machine does not have would end the process.
func TestAdoptRefusesHugePages(t *testing.T) {
	const huge = 2 << 20
	fd, err := unix.MemfdCreate("huge", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|unix.MFD_HUGETLB)
	if err != nil {
		t.Skipf("this kernel has no huge pages for memfds (%v): run on one with CONFIG_HUGETLBFS", err)
	}
	f := os.NewFile(uintptr(fd), "huge")
	defer f.Close()
	require.NoError(t, unix.Ftruncate(fd, huge))
	_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK|unix.F_SEAL_SEAL)
	require.NoError(t, err)
	_, err = unimem.Adopt(f, huge)
	require.ErrorIs(t, err, unimem.ErrShare)
	require.ErrorContains(t, err, "MFD_HUGETLB")
}

func TestAdoptWithoutDescriptors(t *testing.T) {
	b, err := unimem.Open(page)
	require.NoError(t, err)
	f, err := b.Share()
	require.NoError(t, err)
	var old unix.Rlimit
	require.NoError(t, unix.Getrlimit(unix.RLIMIT_NOFILE, &old))
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 1, Max: old.Max}))
	_, adopting := unimem.Adopt(f, page)
	_, sharing := b.Share()
	require.NoError(t, unix.Setrlimit(unix.RLIMIT_NOFILE, &old))
	for _, err := range []error{adopting, sharing} {
		require.ErrorIs(t, err, unimem.ErrCreate)
		require.ErrorIs(t, err, unix.EMFILE)
		require.ErrorContains(t, err, "ulimit -n")
	}
	require.NoError(t, f.Close())
	require.NoError(t, b.Close())
}

// Files that the runtime polls, such as those of a net.Conn, can be adopted too.
func TestAdoptPolledFile(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	f, err := l.(*net.TCPListener).File()
	require.NoError(t, err)
	_, err = unimem.Adopt(f, page)
	require.ErrorIs(t, err, unimem.ErrShare)
	require.NoError(t, f.Close())
	require.NoError(t, l.Close())
}

func TestAdoptTapeSharesTheBytesAndOwnsTheBlock(t *testing.T) {
	first, err := unimem.Start(page)
	require.NoError(t, err)
	defer func() { require.NoError(t, first.Close()) }()
	f, err := first.Block().Share()
	require.NoError(t, err)
	defer func() { require.NoError(t, f.Close()) }()
	second, err := unimem.AdoptTape(f, page)
	require.NoError(t, err)
	a, err := first.Take(64, 64)
	require.NoError(t, err)
	b, err := second.Take(64, 64)
	require.NoError(t, err)
	a[5] = 7
	require.EqualValues(t, 7, b[5])
	require.ErrorIs(t, second.Block().Close(), unimem.ErrInUse, "only the Tape closes its Block")
	second.Clear()
	require.Zero(t, second.Used())
	require.EqualValues(t, 64, first.Used(), "a Tape clears its own spans only")
	require.NoError(t, second.Close())
	_, err = unimem.AdoptTape(nil, page)
	require.ErrorIs(t, err, unimem.ErrShare)
}
