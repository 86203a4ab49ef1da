//go:build !macrules

package wire_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/anekit/anekit/internal/engine/broker/wire"
)

func TestSeal(t *testing.T) {
	steady(t, func() {
		f, err := wire.Seal("text", []byte("one "), nil, []byte("two"))
		require.NoError(t, err)
		fd := int(f.Fd())
		_, err = unix.Pwrite(fd, []byte("x"), 0)
		require.Error(t, err)
		require.Error(t, unix.Ftruncate(fd, 0))
		require.Error(t, unix.Ftruncate(fd, 100))
		got, err := wire.ReadSealed(fd, 7)
		require.NoError(t, err)
		require.Equal(t, "one two", string(got))
		_, err = wire.ReadSealed(fd, 6)
		require.ErrorIs(t, err, wire.ErrLong)

		_, err = wire.KeepSealed(fd, 6)
		require.ErrorIs(t, err, wire.ErrLong)
		m, err := wire.KeepSealed(fd, 7)
		require.NoError(t, err)
		require.NoError(t, f.Close())
		require.Nil(t, m.Bytes())
		require.Equal(t, 7, m.Size())
		require.NoError(t, m.Map())
		require.NoError(t, m.Map())
		require.Equal(t, "one two", string(m.Bytes()))
		require.NoError(t, m.Close())
		require.NoError(t, m.Close())
		require.Nil(t, m.Bytes())

		empty, err := wire.Seal("nothing")
		require.NoError(t, err)
		m, err = wire.KeepSealed(int(empty.Fd()), 0)
		require.NoError(t, err)
		require.NoError(t, m.Map())
		require.Empty(t, m.Bytes())
		require.NoError(t, m.Close())
		require.NoError(t, empty.Close())
	})
}

func TestUnsealedFiles(t *testing.T) {
	memfd := func(seals int) *os.File {
		fd, err := unix.MemfdCreate("test", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
		require.NoError(t, err)
		require.NoError(t, unix.Ftruncate(fd, 100))
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, seals)
		require.NoError(t, err)
		return os.NewFile(uintptr(fd), "memfd")
	}
	open := func(path string) *os.File {
		f, err := os.Open(path)
		require.NoError(t, err)
		return f
	}
	const all = unix.F_SEAL_SHRINK | unix.F_SEAL_GROW | unix.F_SEAL_WRITE | unix.F_SEAL_SEAL
	steady(t, func() {
		for name, f := range map[string]*os.File{
			"no seals": memfd(0), "may shrink": memfd(all &^ unix.F_SEAL_SHRINK),
			"may grow": memfd(all &^ unix.F_SEAL_GROW),
			"writable": memfd(all &^ unix.F_SEAL_WRITE), "seals may change": memfd(all &^ unix.F_SEAL_SEAL),
			"directory": open("/"), "device": open("/dev/zero"), "file": open("/proc/self/exe"),
		} {
			_, err := wire.ReadSealed(int(f.Fd()), 1000)
			require.ErrorIs(t, err, wire.ErrSeal, name)
			m, err := wire.KeepSealed(int(f.Fd()), 1000)
			require.ErrorIs(t, err, wire.ErrSeal, name)
			require.NoError(t, m.Close())
			require.NoError(t, f.Close())
		}
		_, err := wire.ReadSealed(-1, 10)
		require.ErrorIs(t, err, wire.ErrSeal)
	})
}

func TestHugePagesAreRefused(t *testing.T) {
	fd, err := unix.MemfdCreate("huge", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING|unix.MFD_HUGETLB)
	if err != nil {
		t.Skipf("this kernel has no huge pages for memfds (%v): run on one with CONFIG_HUGETLBFS", err)
	}
	require.NoError(t, unix.Ftruncate(fd, 2<<20))
	_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS,
		unix.F_SEAL_SHRINK|unix.F_SEAL_GROW|unix.F_SEAL_WRITE|unix.F_SEAL_SEAL)
	require.NoError(t, err)
	_, err = wire.KeepSealed(fd, 4<<20)
	require.ErrorIs(t, err, wire.ErrSeal)
	require.NoError(t, unix.Close(fd))
}
