package driver

import (
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestIOMMU(t *testing.T) {
	m := newIOMMU()
	for _, size := range []uint64{0, 1<<40 + 1, 1<<64 - 1} {
		_, ok := m.take(size)
		require.False(t, ok, "size %d", size)
	}
	a, ok := m.take(1)
	require.True(t, ok)
	require.Equal(t, span{deviceStart, pageSize}, a)
	b, ok := m.take(pageSize + 1)
	require.True(t, ok)
	require.Equal(t, span{deviceStart + pageSize, 2 * pageSize}, b, "whole pages, right after")
	c, ok := m.take(pageSize)
	require.True(t, ok)

	m.give(a)
	again, ok := m.take(2 * pageSize)
	require.True(t, ok)
	require.Equal(t, c.at+c.size, again.at, "the first hole is too small")
	m.give(b)
	first, ok := m.take(3 * pageSize)
	require.True(t, ok)
	require.Equal(t, uint64(deviceStart), first.at, "two holes have become one")

	m.give(again)
	m.give(first)
	m.give(c)
	require.Equal(t, newIOMMU().free, m.free, "everything joined again")

	all, ok := m.take(1 << 40)
	require.True(t, ok)
	require.Empty(t, m.free)
	_, ok = m.take(1)
	require.False(t, ok, "full")
	m.give(all)
	require.Equal(t, newIOMMU().free, m.free)
}

// TestIOMMURandom checks ranges against a map of pages.
func TestIOMMURandom(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 27))
	m, out, owned := newIOMMU(), []span{}, map[uint64]bool{}
	for range 20000 {
		if len(out) > 0 && (len(out) > 60 || r.IntN(2) == 0) {
			i := r.IntN(len(out))
			for p := out[i].at; p < out[i].at+out[i].size; p += pageSize {
				require.True(t, owned[p])
				delete(owned, p)
			}
			m.give(out[i])
			out[i] = out[len(out)-1]
			out = out[:len(out)-1]
			continue
		}
		s, ok := m.take(r.Uint64N(8*pageSize) + 1)
		require.True(t, ok)
		require.Zero(t, s.at%pageSize)
		for p := s.at; p < s.at+s.size; p += pageSize {
			require.False(t, owned[p], "page %#x is out already", p)
			owned[p] = true
		}
		out = append(out, s)
	}
	for _, s := range out {
		m.give(s)
	}
	require.Equal(t, newIOMMU().free, m.free)
}
